/** Checks of database, authentication and volume. */
import { isQuantity, mapOf } from "@quartet/pod-template";
import { databaseKind } from "../desired/database.ts";
import type { Settings } from "../desired/settings.ts";
import { isPublicToken, isWeakToken } from "../desired/token.ts";
import type { Violation } from "./violation.ts";

/** Faults of database, authentication and volume; an adopted StatefulSet keeps what the peer gave it. */
export function storageViolations({ spec }: Settings, adopted: boolean): Violation[] {
  return [...databaseViolations(spec, adopted), ...tokenViolations(spec, adopted), ...volumeViolations(spec)];
}

function databaseViolations(spec: Settings["spec"], adopted: boolean): Violation[] {
  if (databaseKind(spec) !== "mysql") return [];
  const { mysqlPort, mysqlPassword, credentialsSecretRef } = spec.database ?? {};
  const violations: Violation[] = [];
  if (!mysqlPassword && !credentialsSecretRef?.name && !adopted) {
    const message = "name a Secret with user name and password: there is no default password";
    const path = "spec.database.credentialsSecretRef";
    violations.push({ path, reason: "DatabasePasswordMissing", message });
  }
  if (mysqlPort && !/^\d{1,5}$/.test(mysqlPort)) {
    const message = `"${mysqlPort}" is no port number`;
    violations.push({ path: "spec.database.mysqlPort", reason: "PortInvalid", message });
  }
  return violations;
}

function tokenViolations({ certification = {} }: Settings["spec"], adopted: boolean): Violation[] {
  if (certification.enabled !== true) return [];
  const { token, tokenSecretRef, token_expire_seconds: expiry } = certification;
  const violations: Violation[] = [];
  const kept = adopted && isPublicToken(token ?? "");
  if (token && !tokenSecretRef?.name && !kept && isWeakToken(token)) {
    const message = "Nacos needs base64 of at least 32 bytes; leave it out to have a key generated";
    violations.push({ path: "spec.certification.token", reason: "TokenTooWeak", message });
  }
  if (expiry && !/^\d+$/.test(expiry)) {
    const path = "spec.certification.token_expire_seconds";
    violations.push({ path, reason: "NumberInvalid", message: `"${expiry}" is no number of seconds` });
  }
  return violations;
}

function volumeViolations({ volume = {} }: Settings["spec"]): Violation[] {
  const template = mapOf(mapOf(volume.volumeClaimTemplate).spec);
  const requests = mapOf(mapOf(template.resources).requests);
  const sizes: [path: string, size: unknown][] = [
    ["spec.volume.persistentVolumeSize", volume.persistentVolumeSize || undefined],
    ["spec.volume.volumeClaimTemplate.spec.resources.requests.storage", requests.storage],
    ["spec.volume.requests.storage", volume.requests?.storage],
  ];
  return sizes
    .filter(([, size]) => size !== undefined && !isQuantity(size))
    .map(([path, size]) => {
      const message = `${JSON.stringify(size)} is no quantity such as 10Gi`;
      return { path, reason: "QuantityInvalid", message };
    });
}
