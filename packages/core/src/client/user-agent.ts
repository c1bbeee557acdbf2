/** Who the requests say they come from. */

/** Names as Go programs write them, so that quartet reads like its neighbours in an audit log. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** `quartet-manager/<version> (<os>/<arch>) <controller>`; without a controller the last part is left out. */
export function userAgent(version: string, controller?: string): string {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const arch = ARCHITECTURES[process.arch] ?? process.arch;
  const program = `quartet-manager/${version} (${os}/${arch})`;
  return controller === undefined ? program : `${program} ${controller}`;
}
