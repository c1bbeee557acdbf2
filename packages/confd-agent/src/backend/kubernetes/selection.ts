/** What of a kind a request is about, and what is said when that cannot be had. */
import { BackendError, messageOf } from "../../errors.ts";
import type { Request } from "./keys.ts";

/** What of a kind a request is about. */
export const selection = ({ namespace, name }: Request): { namespace: string; fieldSelector?: string } => ({
  namespace,
  ...(name === "" ? {} : { fieldSelector: `metadata.name=${name}` }),
});

/** An error in the words of the user, with the server's own. */
export function refusal({ resource, namespace, name }: Request, error: unknown): BackendError {
  const what = name === "" ? resource : `${resource}/${name}`;
  const where = namespace === "" ? "all namespaces" : `namespace ${namespace}`;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return new BackendError(`cannot list/watch ${what} in ${where}: ${messageOf(error)}`, {
    onlyThisRange: code === 403 || code === 404 || code === 400,
    cause: error,
  });
}
