/** From the objects of adyanth/cloudflare-operator (`networking.cfargotunnel.com`) to ours (TUN-1016). */
import { GROUP } from "../constants.ts";
import { toV1Alpha2 } from "../conversion/conversions.ts";
import { isMap } from "../desired/document.ts";
import { knownMembers, type Manifest, type Migrated, ownMarks, textOf, titleOf } from "./manifests.ts";

/** Group of the kinds that are read. */
export const CFARGO_GROUP = "networking.cfargotunnel.com";
/** Labels and annotations by which that operator keeps book. */
const CFARGO_PREFIX = "cfargotunnel.com/";
const MIGRATE = "cloudflare-operator.io/migrate-local-config";

const CLOUDFLARE = [
  "domain",
  "secret",
  "accountName",
  "accountId",
  "email",
  "CLOUDFLARE_API_KEY",
  "CLOUDFLARE_API_TOKEN",
  "CLOUDFLARE_TUNNEL_CREDENTIAL_FILE",
  "CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET",
];
const TUNNEL_SPEC = [
  "newTunnel",
  "existingTunnel",
  "cloudflare",
  "fallbackTarget",
  "noTlsVerify",
  "originCaPool",
  "protocol",
];
const PODS = ["size", "image", "nodeSelectors", "tolerations"];
/** Members of a subject's spec. */
export const SUBJECT_SPEC: readonly string[] = [
  "fqdn",
  "protocol",
  "path",
  "target",
  "caPool",
  "noTlsVerify",
  "http2Origin",
  "proxyAddress",
  "proxyPort",
  "proxyType",
];

export interface ImportOptions {
  /** Appended to the names of tunnel objects, so that those of both operators can run beside each other. */
  readonly suffix: string;
  /** Whether tunnels may be switched from files to a configuration in the account, which cannot be undone. */
  readonly migrateLocalConfig: boolean;
}

/** What each object becomes; the order stays. */
export function importObjects(manifests: readonly Manifest[], options: ImportOptions): Migrated[] {
  return manifests.map((manifest) => {
    const notes: string[] = [];
    return { from: titleOf(manifest), objects: importOne(manifest, options, notes), notes };
  });
}

function importOne(manifest: Manifest, options: ImportOptions, notes: string[]): object[] {
  const { apiVersion, kind } = manifest;
  const [group, version] = apiVersion.split("/");
  if (group !== CFARGO_GROUP) {
    notes.push(`left out: it is of ${apiVersion || "no group"}, not of ${CFARGO_GROUP}`);
    return [];
  }
  if (kind === "Tunnel" || kind === "ClusterTunnel")
    return [tunnelOf(manifest, version === "v1alpha1", options, notes)];
  if (kind === "TunnelBinding") return bindingOf(manifest, options, notes);
  notes.push(
    kind === "AccessTunnel"
      ? "left out: it runs `cloudflared access` as a client of somebody's tunnel, which nothing here does; keep its Deployment and Service as objects of your own, without their ownerReferences, and the service token in its Secret"
      : `left out: ${kind} has no counterpart`,
  );
  return [];
}

function metadataOf(manifest: Manifest, name: string): Record<string, unknown> {
  const { labels, annotations } = isMap(manifest.body.metadata) ? manifest.body.metadata : {};
  const [ownLabels, ownAnnotations] = [labels, annotations].map((marks) => ownMarks(marks, CFARGO_PREFIX));
  return {
    name,
    ...(manifest.namespace !== "" && manifest.kind !== "ClusterTunnel" && { namespace: manifest.namespace }),
    ...(ownLabels !== undefined && { labels: ownLabels }),
    ...(ownAnnotations !== undefined && { annotations: ownAnnotations }),
  };
}

function tunnelOf(manifest: Manifest, old: boolean, options: ImportOptions, notes: string[]): object {
  const { kind, name, body } = manifest;
  const known = [...TUNNEL_SPEC, ...(old ? PODS : ["deployPatch"])];
  const spec = knownMembers(body.spec, known, "spec", notes);
  const cloudflare = knownMembers(spec.cloudflare, CLOUDFLARE, "spec.cloudflare", notes);
  const metadata = metadataOf(manifest, `${name}${options.suffix}`);
  if (options.migrateLocalConfig)
    metadata.annotations = { ...(metadata.annotations as object | undefined), [MIGRATE]: "true" };
  else
    notes.push(
      `to do: tunnels of that operator are configured by files; this one is served from here once the annotation ${MIGRATE}: "true" is set (--migrate-local-config), which cannot be undone`,
    );
  const apiVersion = `${GROUP}/v1alpha2`;
  const made = {
    apiVersion,
    kind,
    metadata,
    spec: { ...spec, ...whichTunnel(manifest, spec, notes), cloudflare },
  };
  if (textOf(cloudflare.secret) !== "" && kind === "ClusterTunnel")
    notes.push(`to do: the Secret ${textOf(cloudflare.secret)} must stand in the namespace of this operator`);
  if (old && textOf(spec.image) !== "")
    notes.push(
      `look at: spec.image is kept in deployPatch; without it cloudflared is of the release that the manager runs`,
    );
  return old ? toV1Alpha2(made as never) : made;
}

/** The tunnel that is there is named by its identifier: it keeps it, and never goes with an object by mistake. */
function whichTunnel(
  { body }: Manifest,
  { newTunnel, existingTunnel }: Record<string, unknown>,
  notes: string[],
): Record<string, unknown> {
  const { tunnelId, tunnelName } = isMap(body.status) ? body.status : {};
  const given = isMap(existingTunnel) ? existingTunnel : {};
  const id = textOf(tunnelId) || textOf(given.id);
  const name = textOf(tunnelName) || textOf(given.name);
  if (id !== "" || name !== "") {
    if (isMap(newTunnel) && textOf(newTunnel.name) !== "")
      notes.push(
        'changed: newTunnel became existingTunnel, as the tunnel is there; it stays when the object goes, unless that says newTunnel and the annotation cloudflare-operator.io/adopt: "true"',
      );
    return {
      newTunnel: undefined,
      existingTunnel: { ...(id !== "" && { id }), ...(name !== "" && { name }) },
    };
  }
  if (!isMap(newTunnel)) return { newTunnel: undefined, existingTunnel: undefined };
  notes.push(
    "look at: the object has no status, so its tunnel is not known; one of that name is taken over while no cloudflared is connected to it",
  );
  return { newTunnel, existingTunnel: undefined };
}

function bindingOf(manifest: Manifest, { suffix }: ImportOptions, notes: string[]): object[] {
  const { body } = manifest;
  if (isMap(body.accessConfig) && body.accessConfig.enabled === true) {
    notes.push(
      "left out: accessConfig asks for an Access application before its hosts, and without that they would be open to everybody; write an AccessApplication for each host, take accessConfig away, and import it again",
    );
    return [];
  }
  const ref = knownMembers(body.tunnelRef, ["kind", "name", "disableDNSUpdates"], "tunnelRef", notes);
  const kind = textOf(ref.kind).toLowerCase() === "clustertunnel" ? "ClusterTunnel" : "Tunnel";
  const subjects = (Array.isArray(body.subjects) ? body.subjects : []).map((subject: unknown, index) => {
    const where = `subjects[${index}]`;
    const own = knownMembers(subject, ["kind", "name", "spec"], where, notes);
    if (own.spec === undefined) return own;
    return { ...own, spec: knownMembers(own.spec, SUBJECT_SPEC, `${where}.spec`, notes) };
  });
  return [
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: "TunnelBinding",
      metadata: metadataOf(manifest, manifest.name),
      subjects,
      tunnelRef: { ...ref, kind, name: `${textOf(ref.name)}${suffix}` },
    },
  ];
}
