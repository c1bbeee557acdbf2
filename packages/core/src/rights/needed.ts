/** Which rights a manager needs: its modules' and its own. */
import {
  CUSTOM_RESOURCE_DEFINITION,
  EVENT,
  LEASE,
  MUTATING_WEBHOOK_CONFIGURATION,
  SECRET,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from "../kinds/index.ts";
import { type FlagValues, holds } from "../module/flags.ts";
import type { ControllerModule } from "../module/module.ts";
import { allow, type Right, reads } from "../module/rights.ts";
import { compactRights, type RightsRule, type SingleRight } from "./rules.ts";

/** What of a module its rights follow from. */
export type RightsModule = Pick<ControllerModule, "name" | "kinds" | "rights" | "webhooks" | "conversions">;

export interface RightsOptions {
  /** Prefix of the names of own objects: `<release>-webhook-cert`, `<release>-webhook`. */
  release: string;
  /** Name of the Lease; absent without leader election. */
  leaseName?: string;
  /** Webhooks are served. */
  webhooks: boolean;
  /** Certificates are made by the manager itself and kept in a Secret. */
  ownCertificates: boolean;
  metricsSecure: boolean;
  /** Values of the modules' flags by name. */
  flags: FlagValues;
  /** Namespaces to work in; empty means all. */
  namespaces: readonly string[];
}

/** Where a right is needed: in the manager's namespace, where it works, cluster-wide, or in a single namespace. */
export type NeededPlace = "own" | "work" | "cluster" | { readonly namespace: string };

/** One right, and what becomes of the manager without it. */
export interface NeededRight {
  readonly right: SingleRight;
  readonly place: NeededPlace;
  /** Absent: the manager does not start without it. */
  readonly optional?: { readonly module: string; readonly consequence: string };
}

/** Rules by where they are needed. */
export interface NeededRules {
  readonly own: readonly RightsRule[];
  readonly work: readonly RightsRule[];
  readonly cluster: readonly RightsRule[];
  /** In single namespaces that `work` does not cover. */
  readonly elsewhere: readonly { readonly namespace: string; readonly rules: readonly RightsRule[] }[];
}

/** Name of the Secret with the webhook's certificates. */
export function webhookSecretName(release: string): string {
  return `${release}-webhook-cert`;
}

/** Name of the webhook's Service and of its configurations. */
export function webhookName(release: string): string {
  return `${release}-webhook`;
}

/** Names of the CRDs whose objects the webhook converts; without flags, of all that it may convert. */
export function convertedCrds(
  { kinds, conversions = [] }: Pick<RightsModule, "kinds" | "conversions">,
  flags?: FlagValues,
): string[] {
  const converted = conversions.filter(({ when }) => flags === undefined || holds(when, flags));
  const names = kinds
    .filter((kind) => converted.some((one) => one.kind.group === kind.group && one.kind.kind === kind.kind))
    .map((kind) => `${kind.plural}.${kind.group}`);
  return [...new Set(names)];
}

/** True when the API server calls a module of these. */
export function servesHooks(modules: readonly RightsModule[], flags: FlagValues): boolean {
  return modules.some(
    ({ webhooks = [], conversions = [] }) =>
      conversions.some(({ when }) => holds(when, flags)) || webhooks.some(({ when }) => holds(when, flags)),
  );
}

/** All rights that a manager with these modules needs, each once; what is needed anyway is not optional. */
export function neededRights(modules: readonly RightsModule[], options: RightsOptions): NeededRight[] {
  const needed = new Map<string, NeededRight>();
  const add = (rights: readonly Right[], module?: string): void => {
    for (const right of rights) {
      if (!holds(right.when, options.flags)) continue;
      const place = placeOf(right, options.flags);
      if (place === undefined) continue;
      const optional =
        module === undefined || right.optional === undefined
          ? {}
          : { optional: { module, consequence: right.optional } };
      for (const single of singleRights(right)) {
        const id = idOf(single, place);
        if (needed.get(id)?.optional !== undefined || !needed.has(id)) {
          needed.set(id, { right: single, place, ...optional });
        }
      }
    }
  };
  add(ownRights(modules, options));
  for (const module of modules) add(module.rights, module.name);
  const covered = (namespace: string): boolean =>
    options.namespaces.length === 0 || options.namespaces.includes(namespace);
  return [...needed.values()].filter(
    ({ right, place }) =>
      typeof place === "string" ||
      !(covered(place.namespace) && widerAtWork(right).some((id) => needed.has(id))),
  );
}

function idOf(right: SingleRight, place: NeededPlace): string {
  return JSON.stringify([right, place]);
}

/** Rights of the namespaces to work in that include this one. */
function widerAtWork(right: SingleRight): string[] {
  const { resourceName: _name, ...onAll } = right;
  return [idOf(right, "work"), idOf(onAll, "work")];
}

/** The needed rights as rules. */
export function neededRules(modules: readonly RightsModule[], options: RightsOptions): NeededRules {
  const rights = neededRights(modules, options);
  const rulesAt = (is: (place: NeededPlace) => boolean): RightsRule[] =>
    compactRights(rights.filter(({ place }) => is(place)).map(({ right }) => right));
  const single = rights.flatMap(({ place }) => (typeof place === "string" ? [] : [place.namespace]));
  return {
    own: rulesAt((place) => place === "own"),
    work: rulesAt((place) => place === "work"),
    cluster: rulesAt((place) => place === "cluster"),
    elsewhere: [...new Set(single)].sort().map((namespace) => ({
      namespace,
      rules: rulesAt((place) => typeof place !== "string" && place.namespace === namespace),
    })),
  };
}

/** The single rights of a right. */
export function singleRights({ kind, verbs, subresource, names }: Right): SingleRight[] {
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  return verbs.flatMap((verb) =>
    (names ?? [undefined]).map((resourceName) => ({
      group: kind.group,
      resource,
      verb,
      ...(resourceName !== undefined && { resourceName }),
    })),
  );
}

function placeOf({ kind, place = "work" }: Right, flags: FlagValues): NeededPlace | undefined {
  if (!kind.namespaced) return "cluster";
  if (typeof place === "string") return place;
  if ("namespace" in place) return place;
  const namespace = flags[place.flag];
  if (typeof namespace !== "string")
    throw new Error(`a right names the flag --${place.flag}, which holds no namespace`);
  return namespace === "" ? undefined : { namespace };
}

const TOKEN_REVIEW = { group: "authentication.k8s.io", plural: "tokenreviews", namespaced: false };
const ACCESS_REVIEW = { group: "authorization.k8s.io", plural: "subjectaccessreviews", namespaced: false };

/** Rights of the manager itself (CORE-399). */
function ownRights(modules: readonly RightsModule[], options: RightsOptions): Right[] {
  const { release, leaseName, metricsSecure } = options;
  const rights = [allow(EVENT, ["create", "patch"])];
  if (leaseName !== undefined) {
    rights.push(
      allow(LEASE, ["create"], { place: "own" }),
      allow(LEASE, ["get", "update"], { place: "own", names: [leaseName] }),
    );
  }
  if (metricsSecure) {
    rights.push({ kind: TOKEN_REVIEW, verbs: ["create"] }, { kind: ACCESS_REVIEW, verbs: ["create"] });
  }
  if (options.webhooks && options.ownCertificates && servesHooks(modules, options.flags)) {
    const secret = { place: "own", names: [webhookSecretName(release)] } as const;
    rights.push(
      allow(SECRET, ["create"], { place: "own" }),
      reads(SECRET, secret),
      allow(SECRET, ["update"], secret),
    );
    const inject = (kind: Right["kind"], names: readonly string[]): void => {
      if (names.length > 0) rights.push({ kind, verbs: ["get", "list", "watch", "patch"], names });
    };
    inject(MUTATING_WEBHOOK_CONFIGURATION, [webhookName(release)]);
    inject(VALIDATING_WEBHOOK_CONFIGURATION, [webhookName(release)]);
    inject(
      CUSTOM_RESOURCE_DEFINITION,
      modules.flatMap((module) => convertedCrds(module, options.flags)),
    );
  }
  return rights;
}
