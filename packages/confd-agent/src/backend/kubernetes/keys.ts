/** Keys of the Kubernetes backend: `/configmaps/NAMESPACE/NAME/KEY` and `/secrets/NAMESPACE/NAME/KEY`. */
import { textOf } from "@quartet/go-template";
import { ConfigError } from "../../errors.ts";

export type Resource = "configmaps" | "secrets";

/** What is asked of the API server for a range. */
export interface Request {
  readonly resource: Resource;
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Empty for all objects of the namespace. */
  readonly name: string;
}

/** The requests of a range; `-` is the given namespace. Throws a {@link ConfigError} for what is no kind. */
export function requestsOf(range: string, ownNamespace: string): readonly Request[] {
  if (range === "/")
    return [...requestsOf("/configmaps", ownNamespace), ...requestsOf("/secrets", ownNamespace)];
  const [, kind = "", namespace = "", name = ""] = textOf(range).split("/");
  if (kind !== "configmaps" && kind !== "secrets") {
    throw new ConfigError(
      `${textOf(range)}: unknown kind ${JSON.stringify(kind)}: keys begin with /configmaps or /secrets`,
    );
  }
  return [{ resource: kind, namespace: namespace === "-" ? ownNamespace : namespace, name }];
}

/** A range with its `-` in place of a namespace replaced. */
export function resolvedRange(range: string, ownNamespace: string): string {
  const parts = range.split("/");
  if (parts[2] === "-") parts[2] = ownNamespace;
  return parts.join("/");
}

export const requestKey = ({ resource, namespace, name }: Request): string =>
  `${resource}/${namespace}/${name}`;
