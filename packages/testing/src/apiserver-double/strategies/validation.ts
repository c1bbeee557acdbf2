/** Checks that several kinds share. */
import { isRecord, items, record, records, text } from "../json.ts";
import { type Cause, duplicate, invalidValue, required, tooLong, unsupported } from "../status.ts";

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const ENV_NAME = /^[ -<>-~]+$/;
const PORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export const MAX_LABEL = 63;
export const MAX_SUBDOMAIN = 253;
/** All annotations of an object together, in bytes. */
export const MAX_ANNOTATIONS: number = 256 * 1024;

const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_MESSAGE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_MESSAGE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function isDnsLabel(name: string): boolean {
  return name.length <= MAX_LABEL && DNS_LABEL.test(name);
}

export function isSubdomain(name: string): boolean {
  return name.length <= MAX_SUBDOMAIN && DNS_SUBDOMAIN.test(name);
}

export function checkName(name: string, rule: string, field: string): Cause[] {
  const max = rule === "subdomain" || rule === "path" ? MAX_SUBDOMAIN : MAX_LABEL;
  if (rule === "path") {
    if (name === "." || name === "..") return [invalidValue(field, name, `may not be '${name}'`)];
    return /[/%]/.test(name) ? [invalidValue(field, name, `may not contain '${/[/%]/.exec(name)![0]}'`)] : [];
  }
  const found: Cause[] = [];
  if (name.length > max) found.push(invalidValue(field, name, `must be no more than ${max} characters`));
  if (rule === "subdomain" && !DNS_SUBDOMAIN.test(name))
    found.push(invalidValue(field, name, SUBDOMAIN_MESSAGE));
  if (rule === "label" && !DNS_LABEL.test(name)) found.push(invalidValue(field, name, LABEL_MESSAGE));
  return found;
}

/** Findings about a `prefix/name` key of labels and annotations. */
export function checkQualifiedName(key: string, field: string): Cause[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      invalidValue(field, key, `a valid label key must consist of at most one '/'; ${QUALIFIED_MESSAGE}`),
    ];
  }
  const found: Cause[] = [];
  const name = parts.at(-1)!;
  if (parts.length === 2 && parts[0] === "")
    found.push(invalidValue(field, key, "prefix part must be non-empty"));
  else if (parts.length === 2 && !isSubdomain(parts[0]!)) {
    found.push(invalidValue(field, key, `prefix part ${SUBDOMAIN_MESSAGE}`));
  }
  if (name === "") found.push(invalidValue(field, key, "name part must be non-empty"));
  else if (name.length > MAX_LABEL) {
    found.push(invalidValue(field, key, "name part must be no more than 63 bytes"));
  }
  if (!QUALIFIED.test(name)) found.push(invalidValue(field, key, QUALIFIED_MESSAGE));
  return found;
}

export function checkLabels(labels: unknown, field: string): Cause[] {
  return Object.entries(record(labels)).flatMap(([key, value]) => {
    const found = checkQualifiedName(key, field);
    const label = text(value);
    if (label.length > MAX_LABEL) found.push(invalidValue(field, label, "must be no more than 63 bytes"));
    else if (!LABEL_VALUE.test(label)) found.push(invalidValue(field, label, VALUE_MESSAGE));
    return found;
  });
}

export function checkAnnotations(annotations: unknown, field: string): Cause[] {
  const entries = Object.entries(record(annotations));
  const found = entries.flatMap(([key]) => checkQualifiedName(key.toLowerCase(), field));
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text(value)),
    0,
  );
  if (size > MAX_ANNOTATIONS) found.push(tooLong(field, `may not be more than ${MAX_ANNOTATIONS} bytes`));
  return found;
}

function checkOneContainer(container: Record<string, unknown>, field: string): Cause[] {
  const found: Cause[] = [];
  const name = text(container.name);
  if (name === "") found.push(required(`${field}.name`));
  else found.push(...checkName(name, "label", `${field}.name`));
  if (text(container.image) === "") found.push(required(`${field}.image`));
  records(container.ports).forEach((port, index) => {
    const at = `${field}.ports[${index}]`;
    const number = port.containerPort;
    if (typeof number !== "number" || number === 0) found.push(required(`${at}.containerPort`));
    else if (number < 1 || number > 65535) {
      found.push(invalidValue(`${at}.containerPort`, number, "must be between 1 and 65535, inclusive"));
    }
    const portName = text(port.name);
    if (portName !== "" && (portName.length > 15 || !PORT_NAME.test(portName))) {
      found.push(invalidValue(`${at}.name`, portName, "must be no more than 15 characters"));
    }
  });
  records(container.env).forEach((variable, index) => {
    const at = `${field}.env[${index}].name`;
    if (text(variable.name) === "") found.push(required(at));
    else if (!ENV_NAME.test(text(variable.name))) {
      found.push(
        invalidValue(
          at,
          variable.name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      );
    }
  });
  return found;
}

function checkContainers(
  spec: Record<string, unknown>,
  list: string,
  field: string,
  volumes: Set<string>,
): Cause[] {
  const names = new Set<string>();
  return records(spec[list]).flatMap((container, index) => {
    const at = `${field}.${list}[${index}]`;
    const found = checkOneContainer(container, at);
    if (names.has(text(container.name))) found.push(duplicate(`${at}.name`, container.name));
    names.add(text(container.name));
    const paths = new Set<string>();
    records(container.volumeMounts).forEach((mount, mountIndex) => {
      const place = `${at}.volumeMounts[${mountIndex}]`;
      if (text(mount.name) === "") found.push(required(`${place}.name`));
      else if (!volumes.has(text(mount.name))) {
        found.push({
          reason: "FieldValueNotFound",
          message: `Not found: ${JSON.stringify(mount.name)}`,
          field: `${place}.name`,
        });
      }
      if (text(mount.mountPath) === "") found.push(required(`${place}.mountPath`));
      else if (paths.has(text(mount.mountPath))) {
        found.push(invalidValue(`${place}.mountPath`, mount.mountPath, "must be unique"));
      }
      paths.add(text(mount.mountPath));
    });
    return found;
  });
}

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];

/**
 * The part of pod validation that controllers run into.
 * @param claims volumes that the pods will get from claim templates
 */
export function checkPodSpec(
  spec: unknown,
  field: string,
  restart: readonly string[] = RESTART_POLICIES,
  claims: readonly string[] = [],
): Cause[] {
  const pod = record(spec);
  const found: Cause[] = [];
  const volumes = new Set<string>();
  records(pod.volumes).forEach((volume, index) => {
    const name = text(volume.name);
    const at = `${field}.volumes[${index}].name`;
    if (name === "") found.push(required(at));
    else found.push(...checkName(name, "label", at));
    if (volumes.has(name)) found.push(duplicate(at, name));
    volumes.add(name);
  });
  for (const claim of claims) volumes.add(claim);
  if (items(pod.containers).length === 0) found.push(required(`${field}.containers`));
  found.push(...checkContainers(pod, "containers", field, volumes));
  found.push(...checkContainers(pod, "initContainers", field, volumes));
  const account = text(pod.serviceAccountName);
  if (account !== "") found.push(...checkName(account, "subdomain", `${field}.serviceAccountName`));
  if (!restart.includes(text(pod.restartPolicy))) {
    found.push(unsupported(`${field}.restartPolicy`, pod.restartPolicy, restart));
  }
  return found;
}

/** Whether a label selector (`matchLabels`, `matchExpressions`) matches labels. */
export function selectorMatches(selector: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  for (const [key, value] of Object.entries(record(matchLabels))) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  return records(matchExpressions).every((expression) => {
    const key = text(expression.key);
    const present = Object.hasOwn(labels, key);
    const listed = present && items(expression.values).includes(labels[key]);
    switch (expression.operator) {
      case "In":
        return listed;
      case "NotIn":
        return !listed;
      case "Exists":
        return present;
      case "DoesNotExist":
        return !present;
      default:
        return false;
    }
  });
}

export function isEmptySelector(selector: unknown): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  return Object.keys(record(matchLabels)).length === 0 && items(matchExpressions).length === 0;
}

/** Checks that a workload's selector is given and matches its template. */
export function checkSelector(spec: Record<string, unknown>, field: string, kind: string): Cause[] {
  const labels = record(record(record(spec.template).metadata).labels);
  if (!isRecord(spec.selector)) return [required(`${field}.selector`)];
  if (isEmptySelector(spec.selector)) {
    return [invalidValue(`${field}.selector`, spec.selector, `empty selector is invalid for ${kind}`)];
  }
  if (selectorMatches(spec.selector, labels)) return [];
  return [
    invalidValue(`${field}.template.metadata.labels`, labels, "`selector` does not match template `labels`"),
  ];
}
