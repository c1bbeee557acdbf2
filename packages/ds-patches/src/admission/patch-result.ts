/** What is wrong with a template that has been patched, and was not wrong before (DSP-352, 355 to 364). */
import { BUILT_IN, itemPath, memberPath, type TypeTable } from "@quartet/strategic-merge";
import type { LabelSelector, PodTemplate } from "../api.ts";
import { placementProblems } from "../desired/placement.ts";
import { compileSelector } from "../desired/selector.ts";
import { isMap, mapOf, mapsOf } from "../json.ts";
import type { Violation } from "./verdict.ts";

const CONTAINER_LISTS = ["containers", "initContainers"] as const;
/** Resources that Kubernetes itself knows; any other with a domain must have equal request and limit. */
const NATIVE_RESOURCE = /^(cpu|memory|ephemeral-storage|hugepages-[^/]*)$/;
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];
const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const HOOKS = ["postStart", "preStop"];

export interface ResultCheck {
  /** The template before the patch. */
  readonly before: PodTemplate;
  readonly after: PodTemplate;
  /** The DaemonSet's selector of pods. */
  readonly selector: LabelSelector | undefined;
  /** Names of containers that a template or a patch of lower order has. */
  readonly knownContainers: ReadonlySet<string>;
}

/** Problems of the result, at paths of the template. What the template itself has wrong is not told again. */
export function resultViolations(check: ResultCheck): Violation[] {
  const old = new Set(templateProblems(check.before).map(({ path, message }) => `${path} ${message}`));
  return [
    ...placementProblems(check.before, check.after).map(({ path, message }) => ({
      path,
      message: `forbidden: ${message}`,
    })),
    ...labelViolations(check),
    ...containerViolations(check),
    ...templateProblems(check.after).filter(({ path, message }) => !old.has(`${path} ${message}`)),
  ];
}

function labelViolations({ after, selector }: ResultCheck): Violation[] {
  const labels = mapOf(after.metadata?.labels) as Record<string, string>;
  if (selector === undefined || compileSelector(selector)?.(labels) !== false) return [];
  const keys = [
    ...Object.keys(selector.matchLabels ?? {}),
    ...(selector.matchExpressions ?? []).map(({ key }) => key),
  ];
  const message = `forbidden: the pod would no longer match spec.selector, which goes by ${keys.join(", ")}`;
  return [{ path: "metadata.labels", message }];
}

function containerViolations({ after, knownContainers }: ResultCheck): Violation[] {
  const found: Violation[] = [];
  for (const list of CONTAINER_LISTS) {
    mapsOf(after.spec?.[list]).forEach((container, index) => {
      const { name, image } = container;
      if (typeof name !== "string" || knownContainers.has(name) || image) return;
      const known = [...knownContainers].join(", ") || "none";
      const message = `must be given: ${JSON.stringify(name)} is no container of the template, which has ${known}`;
      found.push({ path: `spec.${itemPath(list, index)}.image`, message });
    });
  }
  if (mapsOf(after.spec?.containers).length === 0) {
    found.push({ path: "spec.containers", message: "invalid: at least one container must remain" });
  }
  return found;
}

/** Problems that the merge brings about and whose remedy is one of its directives. */
function templateProblems(template: PodTemplate): Violation[] {
  const spec = template.spec ?? {};
  const volumes = mapsOf(spec.volumes);
  const containers = CONTAINER_LISTS.flatMap((list) =>
    mapsOf(spec[list]).map((container, index) => ({ container, path: `spec.${itemPath(list, index)}` })),
  );
  return [
    ...duplicates(containers.map(({ container, path }) => ({ name: container.name, path }))),
    ...duplicates(volumes.map(({ name }, index) => ({ name, path: `spec.${itemPath("volumes", index)}` }))),
    ...volumes.flatMap((volume, index) => sourceProblems(volume, `spec.${itemPath("volumes", index)}`)),
    ...containers.flatMap(({ container, path }) => [
      ...envProblems(container, path),
      ...handlerProblems(container, path),
      ...resourceProblems(container, path),
      ...mountProblems(container, path, new Set(volumes.map(({ name }) => name))),
    ]),
  ];
}

function duplicates(named: readonly { name: unknown; path: string }[]): Violation[] {
  const seen = new Set<unknown>();
  return named.flatMap(({ name, path }) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      { path: `${path}.name`, message: `duplicate value ${JSON.stringify(name)}: choose another name` },
    ];
  });
}

function sourceProblems(volume: Record<string, unknown>, path: string): Violation[] {
  const sources = Object.keys(volume).filter((key) => key !== "name" && isMap(volume[key]));
  if (sources.length < 2) return [];
  const [first, second] = sources;
  const remedy = `add $retainKeys: [name, ${second}], or ${first}: null, to the patch`;
  return [{ path, message: `has two sources, ${first} and ${second}: ${remedy}` }];
}

function envProblems(container: Record<string, unknown>, path: string): Violation[] {
  return mapsOf(container.env).flatMap((item, index) => {
    if (!item.value || !isMap(item.valueFrom)) return [];
    const message = "has value and valueFrom: add value: null, or valueFrom: null, to the patch";
    return [{ path: `${path}.${itemPath("env", index)}`, message }];
  });
}

function handlerProblems(container: Record<string, unknown>, path: string): Violation[] {
  const lifecycle = mapOf(container.lifecycle);
  const places = [
    ...PROBES.map((key) => ({ value: container[key], at: `${path}.${key}` })),
    ...HOOKS.map((key) => ({ value: lifecycle[key], at: `${path}.lifecycle.${key}` })),
  ];
  return places.flatMap(({ value, at }) => {
    const kinds = HANDLERS.filter((kind) => isMap(mapOf(value)[kind]));
    if (kinds.length < 2) return [];
    const message = `has two handlers, ${kinds.join(" and ")}: list the fields to keep in $retainKeys`;
    return [{ path: at, message }];
  });
}

function resourceProblems(container: Record<string, unknown>, path: string): Violation[] {
  const { requests, limits } = mapOf(container.resources);
  const [requested, limited] = [mapOf(requests), mapOf(limits)];
  return Object.keys(requested).flatMap((name) => {
    if (NATIVE_RESOURCE.test(name) || !name.includes("/")) return [];
    if (limited[name] !== undefined && String(limited[name]) === String(requested[name])) return [];
    const at = memberPath(`${path}.resources.requests`, name);
    const message = `${name} is an extended resource: set resources.limits to the same amount, which alone is enough`;
    return [{ path: at, message }];
  });
}

function mountProblems(
  container: Record<string, unknown>,
  path: string,
  volumes: ReadonlySet<unknown>,
): Violation[] {
  return mapsOf(container.volumeMounts).flatMap(({ name }, index) => {
    if (volumes.has(name)) return [];
    const at = `${path}.${itemPath("volumeMounts", index)}.name`;
    return [{ path: at, message: `not found: there is no volume ${JSON.stringify(name)}` }];
  });
}

/**
 * Merge lists of the template in which the patch addresses a key that two items have, so that one of them would be
 * changed in silence (DSP-358), and directives inside items that the patch would add, which have nothing to act on
 * (DSP-364).
 */
export function mergeViolations(
  template: PodTemplate,
  patch: Record<string, unknown>,
  table: TypeTable = BUILT_IN,
): Violation[] {
  const found: Violation[] = [];
  compareMaps({ table, found }, "PodTemplateSpec", template as Record<string, unknown>, patch, "");
  return found;
}

interface Comparison {
  readonly table: TypeTable;
  readonly found: Violation[];
}

function compareMaps(
  comparison: Comparison,
  type: string,
  original: Record<string, unknown>,
  patch: Record<string, unknown>,
  path: string,
): void {
  const fields = comparison.table.types.get(type);
  for (const [key, value] of Object.entries(patch)) {
    const field = fields?.get(key);
    if (field === undefined || value === null) continue;
    const [at, current] = [memberPath(path, key), original[key]];
    const { shape } = field;
    if (shape.kind === "map" && isMap(value)) {
      if (isMap(current)) compareMaps(comparison, shape.type, current, value, at);
      else refuseDirectives(comparison, value, at);
    } else if (shape.kind === "list" && shape.items.kind === "map" && field.strategies.includes("merge")) {
      compareLists(comparison, shape.items.type, field.mergeKey, current, value, at);
    }
  }
}

function compareLists(
  comparison: Comparison,
  type: string,
  mergeKey: string,
  current: unknown,
  value: unknown,
  path: string,
): void {
  const items = mapsOf(value);
  if (items.some(({ $patch }) => $patch === "replace")) return;
  const originals = Map.groupBy(mapsOf(current), (item) => item[mergeKey]);
  items.forEach((item, index) => {
    const at = itemPath(path, index);
    const same = originals.get(item[mergeKey]) ?? [];
    if (same.length > 1) {
      const message = `ambiguous: the template has ${same.length} items with this ${mergeKey}; write the whole list with an item $patch: replace`;
      comparison.found.push({ path: at, message });
    } else if (same.length === 1) {
      compareMaps(comparison, type, same[0]!, item, at);
    } else if (item.$patch === undefined) {
      refuseDirectives(comparison, item, at);
    }
  });
}

function refuseDirectives({ found }: Comparison, added: Record<string, unknown>, path: string): void {
  const visit = (value: unknown, at: string): void => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, itemPath(at, index));
    if (!isMap(value)) return;
    for (const [key, member] of Object.entries(value)) {
      const inside = memberPath(at, key);
      if (
        key === "$patch" ||
        key.startsWith("$deleteFromPrimitiveList") ||
        key.startsWith("$setElementOrder")
      ) {
        found.push({
          path: inside,
          message: "the directive has nothing to act on, since the patch adds this; remove it",
        });
      } else if (key !== "$retainKeys") {
        visit(member, inside);
      }
    }
  };
  visit(added, path);
}
