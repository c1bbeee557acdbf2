/** The demo runs to its end, and each part of Quartet has its say in it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { repository } from "./paths.ts";

const flags = ["--conditions=quartet-source", "--disable-warning=ExperimentalWarning"];

it("CORE-454 the demo tells a story of each controller and ends by itself", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, `${repository}/tools/demo.ts`]);
  for (const line of [
    / nacos +pods replaced, one by one, each once: my-nacos-2, my-nacos-1, my-nacos-0$/m,
    / ds-patches +replaced the pod of node-0 \(CACHE_SIZE=2Ti\), and no other$/m,
    / tunnel +labelled one Ingress, gave the other a new host: 1 PUT of the configuration$/m,
    / tars +renaming it is refused: .* denied the request: .*immutable/m,
    / tars +activated demo-echoserver-echo-conf-1 again: rolled back$/m,
    / confd +port "none" fails the check: the file is still listen 8080;$/m,
    / demo +all stopped$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
});
