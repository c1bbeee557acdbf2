/** ConfigMap and Secret. */
import { isRecord, type JsonObject, record, sameJson, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, Failure, forbiddenField, invalidValue, required, tooLong } from "../status.ts";
import { strategy } from "./base.ts";
import { MAX_SUBDOMAIN } from "./validation.ts";

/** All values of a ConfigMap or Secret together, in bytes. */
const MAX_DATA = 1_048_576;
const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_MESSAGE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function checkKeys(data: JsonObject, field: string): Cause[] {
  return Object.keys(data).flatMap((key) => {
    if (key.length > MAX_SUBDOMAIN)
      return [invalidValue(`${field}[${key}]`, key, "must be no more than 253 characters")];
    return KEY.test(key) ? [] : [invalidValue(`${field}[${key}]`, key, KEY_MESSAGE)];
  });
}

/** Bytes behind a base64 text. */
function decodedSize(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

function checkImmutable(object: KubeObject, old: KubeObject, fields: readonly string[]): Cause[] {
  if (old.immutable !== true) return [];
  if (object.immutable !== true) {
    return [forbiddenField("immutable", "field is immutable when `immutable` is set")];
  }
  return fields
    .filter((field) => !sameJson(object[field], old[field]))
    .map((field) => forbiddenField(field, "field is immutable when `immutable` is set"));
}

function refuseBadBase64(object: KubeObject, field: string): void {
  for (const value of Object.values(record(object[field]))) {
    if (typeof value === "string" && !BASE64.test(value.replaceAll(/[\r\n]/g, ""))) {
      throw new Failure(
        400,
        "BadRequest",
        `${object.kind} in version "v1" cannot be handled as a ${object.kind}: illegal base64 data at input byte 0`,
      );
    }
  }
}

export const configMap: Strategy = strategy({
  defaults: (object) => refuseBadBase64(object, "binaryData"),
  validate(object) {
    const data = record(object.data);
    const binary = record(object.binaryData);
    const found = [...checkKeys(data, "data"), ...checkKeys(binary, "binaryData")];
    for (const key of Object.keys(binary)) {
      if (Object.hasOwn(data, key))
        found.push(invalidValue("binaryData", key, "duplicate of key present in data"));
    }
    let size = 0;
    for (const value of Object.values(data)) size += Buffer.byteLength(text(value));
    for (const value of Object.values(binary)) size += decodedSize(text(value));
    if (size > MAX_DATA) found.push(tooLong("", `may not be more than ${MAX_DATA} bytes`));
    return found;
  },
  validateUpdate: (object, old) => checkImmutable(object, old, ["data", "binaryData"]),
});

/** Keys that a typed secret must hold. */
const SECRET_KEYS: Record<string, readonly string[]> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

export const secret: Strategy = strategy({
  defaults(object) {
    refuseBadBase64(object, "data");
    if (text(object.type) === "") object.type = "Opaque";
    if (isRecord(object.stringData)) {
      const data: JsonObject = { ...record(object.data) };
      for (const [key, value] of Object.entries(object.stringData)) {
        data[key] = Buffer.from(text(value)).toString("base64");
      }
      object.data = data;
      delete object.stringData;
    }
  },
  validate(object) {
    const data = record(object.data);
    const found = checkKeys(data, "data");
    let size = 0;
    for (const value of Object.values(data)) size += decodedSize(text(value));
    if (size > MAX_DATA) found.push(tooLong("data", `may not be more than ${MAX_DATA} bytes`));
    for (const key of SECRET_KEYS[text(object.type)] ?? []) {
      if (!Object.hasOwn(data, key)) found.push(required(`data[${key}]`));
    }
    return found;
  },
  validateUpdate(object, old) {
    const found = checkImmutable(object, old, ["data"]);
    if (object.type !== old.type) found.push(invalidValue("type", object.type, "field is immutable"));
    return found;
  },
});
