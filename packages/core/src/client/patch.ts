/** Patch bodies and their content types. */
import type { Kind } from "../object.ts";
import { InvalidRequestError } from "./errors.ts";
import { encodeJson } from "./json.ts";
import type { Patch } from "./types.ts";

export const APPLY_TYPE = "application/apply-patch+yaml";

/** Groups that the API server itself serves from Go types; only those know strategic merge. */
const BUILT_IN_GROUPS: ReadonlySet<string> = new Set([
  "",
  "admissionregistration.k8s.io",
  "apps",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "extensions",
  "flowcontrol.apiserver.k8s.io",
  "internal.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "storagemigration.k8s.io",
  // Served by the extension and aggregation servers within kube-apiserver, from Go types too.
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
]);

/** True for kinds that come with Kubernetes. */
export function isBuiltIn(kind: Pick<Kind, "group">): boolean {
  return BUILT_IN_GROUPS.has(kind.group);
}

/** Body and content type of a patch. Throws for a strategic merge of a custom resource, which no server can do. */
export function encodePatch(kind: Kind, patch: Patch): { body: string; contentType: string } {
  switch (patch.type) {
    case "json":
      return { body: encodeJson(patch.operations), contentType: "application/json-patch+json" };
    case "merge":
      return { body: encodeJson(patch.body), contentType: "application/merge-patch+json" };
    case "strategic":
      if (!isBuiltIn(kind)) {
        throw new InvalidRequestError(
          `${kind.kind}.${kind.group}: strategic merge is not supported for custom resources; use a merge or JSON patch`,
        );
      }
      return { body: encodeJson(patch.body), contentType: "application/strategic-merge-patch+json" };
  }
}
