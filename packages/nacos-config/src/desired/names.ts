/** Names, labels and annotations of everything that belongs to one Nacos resource. */

/** Name of the generated configuration object when the resource gives none (as in the peer). */
export function defaultFinalConfigName(name: string): string {
  return `${name}-final-config`;
}

export function headlessServiceName(name: string): string {
  return `${name}-headless`;
}

export function clientServiceName(name: string): string {
  return `${name}-client`;
}

/** Secret with a generated JWT signing key. */
export function authSecretName(name: string): string {
  return `${name}-nacos-auth`;
}

/** ConfigMap and Job that initialise a MySQL database (as in the peer). */
export function mysqlInitName(name: string): string {
  return `${name}-mysql-sql-init`;
}

/** ControllerRevision that records a StatefulSet which is being made anew. */
export function recreateRecordName(name: string): string {
  return `${name}-sts-recreate`;
}

/** Labels that every child carries; also the selector of new StatefulSets. */
export function fixedLabels(name: string): Record<string, string> {
  return { app: name, ...CHILD_LABELS };
}

/** Label of the record of a StatefulSet that is being made anew: what records are watched by. */
export const RECORD_LABELS: Readonly<Record<string, string>> = { "nacos.io/record": "recreate" };

/** The part of the fixed labels that all installations share: what children are watched by. */
export const CHILD_LABELS: Readonly<Record<string, string>> = { component: "nacos", middleware: "nacos" };

/** Pod template: digest of the merged configuration; its change rolls the pods. */
export const CONFIG_DIGEST_ANNOTATION: string = "nacos.io/config-digest";
/** StatefulSet, and resource as a request: revision of the pod template's generator. */
export const TEMPLATE_REVISION_ANNOTATION: string = "nacos.io/template-revision";
/** StatefulSet: the pod template as it was last generated, in canonical JSON. */
export const LAST_APPLIED_ANNOTATION: string = "nacos.io/last-applied";
/** Generated configuration: uid of the resource that it was generated for. */
export const GENERATED_FOR_ANNOTATION: string = "nacos.io/generated-for";
/** Child: keys of the labels and annotations that the resource gave it; with the resource's they go again. */
export const INHERITED_ANNOTATION: string = "nacos.io/inherited";
/** Resource: suspends everything but health checks and status. */
export const PAUSED_ANNOTATION: string = "nacos.io/paused";
/** Resource: allows taking over an existing StatefulSet or Service that carries none of our labels. */
export const ADOPT_ANNOTATION: string = "nacos.io/adopt";

/** Resource: generation for which other volumes may replace those of a StatefulSet. */
export const ALLOW_RECREATE_ANNOTATION: string = "nacos.io/allow-volume-recreate";

/** Key of the generated configuration, and name of the file that Nacos reads. */
export const FINAL_CONFIG_KEY: string = "application.properties";
/** Key of the legacy configuration, and name of the file that old images read. */
export const LEGACY_CONFIG_KEY: string = "custom.properties";
/** Name of the pod's configuration volume. */
export const CONFIG_VOLUME: string = "config";
/** Name of the data volume when no claim template names it. */
export const DATA_VOLUME: string = "db";
/** Where Nacos reads its properties (official image). */
export const FINAL_CONFIG_PATH: string = "/home/nacos/conf/application.properties";
/** Where images up to 2.1.0 read additional properties. */
export const LEGACY_CONFIG_PATH: string = "/home/nacos/init.d/custom.properties";
/** Where Nacos keeps its data (official image). */
export const DATA_PATH: string = "/home/nacos/data";

/** Annotation domains that stay on the resource: they describe how it was applied, not what it is. */
const PRIVATE_ANNOTATION_DOMAINS = [
  "kubectl.kubernetes.io/",
  "meta.helm.sh/",
  "argocd.argoproj.io/",
  "nacos.io/",
];

/** True for annotations that say how an object came about. */
export function isPrivateAnnotation(key: string): boolean {
  return PRIVATE_ANNOTATION_DOMAINS.some((domain) => key.startsWith(domain));
}
