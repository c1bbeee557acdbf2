/** Renders templates: with the files that they include, and with the answers of name servers that they ask for. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import {
  ANY,
  bytesOf,
  CallError,
  type GoFunction,
  parseTemplate,
  STRING,
  string,
  type Template,
  TemplateError,
  textOf,
  type Value,
} from "@quartet/go-template";
import { messageOf, RunError } from "../errors.ts";
import { templateFunctions } from "../functions/all.ts";
import { cryptFunctions } from "../functions/crypt.ts";
import type { Host, ServiceRecord } from "../functions/host.ts";
import { createStore, type Entries } from "../functions/store.ts";
import type { Decrypt } from "../openpgp/keyring.ts";

/** How deep included files may include others. */
const MAX_INCLUDES = 10;
/** How often a template may ask for further names after it was given the answers so far. */
const MAX_LOOKUP_ROUNDS = 8;

/** What a rendering needs of the world. */
export interface RenderHost extends Omit<Host, "addresses" | "services"> {
  readonly resolveAddresses: (name: string) => Promise<readonly string[]>;
  readonly resolveServices: (name: string) => Promise<readonly ServiceRecord[]>;
}

export interface RenderRequest {
  /** Path of the template. */
  readonly file: string;
  /** Folder that included files are in. */
  readonly templates: string;
  readonly values: Entries;
  readonly host: RenderHost;
  readonly data?: Value;
  /** Some of the values are secrets: errors have none of them. */
  readonly secret?: boolean;
  /** Told of each file before it is read, also of one that is not there. */
  readonly onFile?: (file: string) => void;
}

export interface Rendered {
  readonly content: Buffer;
  /** Encrypted values were read for it. */
  readonly decrypted: boolean;
  /** Texts that its actions printed, where some of the values are secrets (byte strings). */
  readonly printed: ReadonlySet<string>;
}

export interface Renderer {
  /** Renders; rejects with a {@link RunError} with the position. */
  render(request: RenderRequest): Promise<Rendered>;
  /** Parses a template without rendering it; throws a {@link RunError}. */
  check(file: string, templates: string): void;
}

interface Parsed {
  readonly source: string;
  readonly template: Template;
}

/**
 * Makes a renderer, which keeps parsed templates as long as their files are the same. Templates have the functions for
 * encrypted values only with something to decrypt them.
 */
export function createRenderer(decrypt?: Decrypt): Renderer {
  const parsed = new Map<string, Parsed>();
  const names = Object.keys(functionsOf({ ...NOTHING, decrypt }));
  const load = (file: string): Template => {
    const source = readTemplate(file);
    const known = parsed.get(file);
    if (known?.source === source) return known.template;
    parsed.delete(file);
    const functions = Object.fromEntries(names.map((name) => [name, UNUSED]));
    const template = parseTemplate({ name: basename(file), source, functions });
    parsed.set(file, { source, template });
    return template;
  };
  /** Renders with the answers that are there; names without an answer go into the set. */
  const renderOnce = (request: RenderRequest, answers: Answers, onDecrypt: () => void): Rendered => {
    const printed = new Set<string>();
    let decrypted = false;
    const decryptNoted =
      decrypt &&
      ((value: string): string => {
        decrypted = true;
        onDecrypt();
        return decrypt(value);
      });
    const renderFile = (file: string, chain: readonly string[], data: Value | undefined): string => {
      request.onFile?.(file);
      return load(file).render({
        ...(data === undefined ? {} : { data }),
        ...(request.secret === true || decrypt !== undefined ? { onPrint: (text) => printed.add(text) } : {}),
        functions: functionsOf({
          values: request.values,
          decrypt: decryptNoted,
          host: { ...request.host, addresses: answers.addresses, services: answers.services },
          include: (name, given) => {
            request.onFile?.(join(request.templates, name));
            const included = includedFile(request.templates, name, chain);
            return renderFile(included, [...chain, included], given);
          },
        }),
      });
    };
    const output = renderFile(request.file, [request.file], request.data);
    if (request.secret !== true && !decrypted) printed.clear();
    return { content: Buffer.from(output, "latin1"), decrypted, printed };
  };
  return {
    render: async (request) => {
      const answers = createAnswers();
      let secret = request.secret ?? false;
      const onDecrypt = (): void => {
        secret = true;
      };
      for (let round = 0; ; round++) {
        let outcome: { rendered: Rendered } | { error: unknown };
        try {
          outcome = { rendered: renderOnce(request, answers, onDecrypt) };
        } catch (error) {
          outcome = { error };
        }
        if (answers.missing() && round < MAX_LOOKUP_ROUNDS) await answers.resolve(request.host);
        else if ("rendered" in outcome) return outcome.rendered;
        else throw failure(request.file, outcome.error, secret);
      }
    },
    check: (file) => {
      try {
        load(file);
      } catch (error) {
        throw failure(file, error);
      }
    },
  };
}

function failure(file: string, error: unknown, secret = false): unknown {
  if (error instanceof RunError) return error;
  if (error instanceof TemplateError) {
    const text = secret ? error.withoutValues : error.message;
    return new RunError(`Unable to process template ${file}, ${text}`, "when something changes");
  }
  return error;
}

function readTemplate(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      throw new RunError(`Missing template: ${file}`, "when something changes");
    }
    throw new RunError(`cannot read template ${file}: ${messageOf(error)}`, "soon");
  }
}

function includedFile(templates: string, name: string, chain: readonly string[]): string {
  const file = join(templates, name);
  const real = realpathOf(file);
  const below = relative(realpathOf(templates) ?? templates, real ?? file);
  if (below.startsWith("..") || below === "")
    throw new CallError(bytesOf(`include ${name}: outside of ${templates}`));
  if (real === undefined) throw new CallError(bytesOf(`include ${name}: no such file in ${templates}`));
  if (chain.some((other) => realpathOf(other) === real)) {
    throw new CallError(bytesOf(`include ${name}: includes itself`));
  }
  if (chain.length > MAX_INCLUDES)
    throw new CallError(bytesOf(`include ${name}: more than ${MAX_INCLUDES} deep`));
  return file;
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

interface FunctionSources {
  readonly values: Entries;
  readonly decrypt?: Decrypt | undefined;
  readonly host: Host;
  readonly include: (name: string, data: Value | undefined) => string;
}

function functionsOf({
  values,
  decrypt,
  host,
  include,
}: FunctionSources): Readonly<Record<string, GoFunction>> {
  const store = createStore(values);
  return {
    ...templateFunctions(store, host),
    ...(decrypt === undefined ? {} : cryptFunctions(store, decrypt)),
    include: {
      parameters: [STRING, ANY],
      variadic: true,
      call: ([name, data]) => {
        try {
          return string(include(textOf(name?.data as string), data));
        } catch (error) {
          if (error instanceof TemplateError)
            throw new CallError(bytesOf(error.message), bytesOf(error.withoutValues));
          throw error;
        }
      },
    },
  };
}

const UNUSED: GoFunction = { parameters: [], call: () => undefined };
const NOTHING: FunctionSources = {
  values: new Map(),
  host: {
    environment: {},
    fileExists: () => false,
    now: 0n,
    hostname: "",
    interfaceAddress: () => "",
    addresses: () => [],
    services: () => [],
  },
  include: () => "",
};

interface Answers extends Pick<Host, "addresses" | "services"> {
  missing(): boolean;
  resolve(host: RenderHost): Promise<void>;
}

/** Answers of name servers: names that were asked for and are not known yet are gathered. */
function createAnswers(): Answers {
  const addresses = new Map<string, readonly string[]>();
  const services = new Map<string, readonly ServiceRecord[]>();
  const wanted = new Set<string>();
  const wantedServices = new Set<string>();
  return {
    addresses: (name) => {
      if (!addresses.has(name)) wanted.add(name);
      return addresses.get(name) ?? [];
    },
    services: (name) => {
      if (!services.has(name)) wantedServices.add(name);
      return services.get(name) ?? [];
    },
    missing: () => wanted.size + wantedServices.size > 0,
    resolve: async ({ resolveAddresses, resolveServices }) => {
      await Promise.all([
        ...[...wanted].map(async (name) => addresses.set(name, await resolveAddresses(name))),
        ...[...wantedServices].map(async (name) => services.set(name, await resolveServices(name))),
      ]);
      wanted.clear();
      wantedServices.clear();
    },
  };
}
