/** Conversions between v1beta2, which is stored, and v1beta3 (tars.md 10). */

import type { KubeObject } from "@quartet/core";
import { type Conversion, conversion } from "@quartet/core/webhook";
import type { TFrameworkConfig, TFrameworkConfigV1Beta3, TServer, TServerV1Beta3 } from "../api.gen.ts";
import { T_FRAMEWORK_CONFIG, T_SERVER } from "../kinds.ts";
import { readCarry, readExecutor, withCarry, withExecutor, withoutCarry } from "./carry.ts";

/** Time that a build may take where nothing is said, s; the default of the schema, which is not applied here (CV-008). */
const MAX_BUILD_TIME = 300;

/** Puts annotations into an object; none at all when there are none. */
function annotate(object: KubeObject, annotations: Record<string, string> | undefined): void {
  if (annotations === undefined) delete object.metadata.annotations;
  else object.metadata.annotations = annotations;
}

/** A TServer as v1beta3 (CV-001). */
export function serverToV1Beta3(object: TServer): TServerV1Beta3 {
  const carry = readCarry(object.metadata.annotations);
  annotate(object, withoutCarry(object.metadata.annotations));
  const { k8s } = object.spec;
  if (k8s === undefined) return object as TServerV1Beta3;
  const { readinessGate, ...rest } = k8s;
  const gates = [...(readinessGate ? [readinessGate] : []), ...carry.readinessGates];
  return {
    ...object,
    spec: {
      ...object.spec,
      k8s: {
        ...rest,
        ...(carry.command.length > 0 && { command: [...carry.command] }),
        ...(carry.args.length > 0 && { args: [...carry.args] }),
        ...(gates.length > 0 && { readinessGates: gates }),
      },
    },
  };
}

/** A TServer as v1beta2 (CV-002). */
export function serverFromV1Beta3(object: TServerV1Beta3): TServer {
  const { command, args, readinessGates, ...k8s } = object.spec.k8s ?? {};
  const [first, ...more] = readinessGates ?? [];
  annotate(
    object,
    withCarry(object.metadata.annotations, {
      command: command ?? [],
      args: args ?? [],
      readinessGates: more,
    }),
  );
  if (object.spec.k8s === undefined) return object as TServer;
  return {
    ...object,
    spec: { ...object.spec, k8s: { ...k8s, ...(first !== undefined && { readinessGate: first }) } },
  };
}

/** A TFrameworkConfig as v1beta3 (CV-003, CV-008). */
export function frameworkToV1Beta3(object: TFrameworkConfig): TFrameworkConfigV1Beta3 {
  const executor = readExecutor(object.metadata.annotations);
  annotate(object, withoutCarry(object.metadata.annotations));
  const { imageRegistry, imageBuild, ...rest } = object;
  return {
    ...rest,
    imageBuild: { maxBuildTime: MAX_BUILD_TIME, ...imageBuild, executor: { ...executor } },
    imageUpload: imageRegistry,
  };
}

/** A TFrameworkConfig as v1beta2 (CV-003). */
export function frameworkFromV1Beta3(object: TFrameworkConfigV1Beta3): TFrameworkConfig {
  const { imageUpload, imageBuild, ...rest } = object;
  const { executor, ...build } = imageBuild;
  annotate(
    object,
    withExecutor(object.metadata.annotations, { image: executor.image, secret: executor.secret ?? "" }),
  );
  return { ...rest, imageBuild: build, imageRegistry: imageUpload };
}

/** The conversions that the webhook answers with; all other kinds are equal in both versions. */
export const CONVERSIONS: readonly Conversion[] = [
  conversion(T_SERVER, [{ version: "v1beta3", toHub: serverFromV1Beta3, fromHub: serverToV1Beta3 }]),
  conversion(T_FRAMEWORK_CONFIG, [
    { version: "v1beta3", toHub: frameworkFromV1Beta3, fromHub: frameworkToV1Beta3 },
  ]),
];
