/** Checks that ask no backend: of the files of conf.d, and of the templates. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { bytesOf } from "@quartet/go-template";
import { checkBackend } from "./backend/connect.ts";
import { flattenText } from "./backend/flatten.ts";
import type { Environment, Settings } from "./config/settings.ts";
import { ConfigError, messageOf } from "./errors.ts";
import { decodeJson } from "./functions/json.ts";
import type { Decrypt } from "./openpgp/keyring.ts";
import { loadResources } from "./resource/load.ts";
import { currentHost } from "./run/host.ts";
import { createRenderer } from "./run/render.ts";

/** Everything that is wrong with the files: settings of backends, resources, templates and folders that are missing. */
export function checkConfig(settings: Settings, environment: Environment): string[] {
  const { resources, errors } = loadResources(settings);
  const problems = errors.map(({ message }) => message);
  const attempt = (where: string, step: () => void): void => {
    try {
      step();
    } catch (error) {
      problems.push(`${where}${messageOf(error)}`);
    }
  };
  attempt("", () => checkBackend(settings, environment));
  for (const { file, template, dest, backend, makeDirs } of resources) {
    if (statSync(template, { throwIfNoEntry: false }) === undefined)
      problems.push(`${file}: src: no template ${template}`);
    if (!makeDirs && statSync(dirname(dest), { throwIfNoEntry: false })?.isDirectory() !== true) {
      problems.push(`${file}: dest: no folder ${dirname(dest)}: create it or set make_dirs = true`);
    }
    if (backend !== undefined) attempt(`${file}: `, () => checkBackend(backend, environment));
  }
  return problems;
}

/** Parses all templates; with values also renders them. What is wrong. */
export async function validateTemplates(
  settings: Settings,
  environment: Environment,
  decrypt?: Decrypt,
): Promise<string[]> {
  const { resources, errors } = loadResources(settings);
  const problems = errors.map(({ message }) => message);
  const renderer = createRenderer(decrypt);
  const templates = join(settings.confdir, "templates");
  const mock = settings.mockData === "" ? undefined : readMock(settings.mockData);
  for (const { template } of resources) {
    try {
      if (mock === undefined) renderer.check(template, templates);
      else
        await renderer.render({
          file: template,
          templates,
          values: mock.values,
          data: mock.data,
          host: currentHost(environment),
        });
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return problems;
}

function readMock(file: string) {
  try {
    const text = readFileSync(file, "utf8");
    const data = decodeJson(bytesOf(text));
    if (data?.kind !== "map") throw new Error("expected a JSON object");
    const values = new Map<string, string>();
    flattenText(file, text, "", values);
    return { values, data };
  } catch (error) {
    throw new ConfigError(`mock-data ${file}: ${messageOf(error)}`);
  }
}
