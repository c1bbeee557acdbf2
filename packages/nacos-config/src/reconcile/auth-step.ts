/** Generates the JWT signing key of an installation that brings none. */
import { randomBytes } from "node:crypto";
import type { DeepReadonly } from "@quartet/core";
import { type ConfigObject, SECRET, type StatefulSet } from "@quartet/core/kinds";
import { metadataOf, metadataOver } from "../desired/family.ts";
import { AUTH_TOKEN_KEY } from "../desired/nacos-env.ts";
import { authSecretName } from "../desired/names.ts";
import { warning } from "../desired/notice.ts";
import { isPublicToken } from "../desired/token.ts";
import { literalEnv } from "../health/endpoint.ts";
import { failureOf } from "./failure.ts";
import type { Pass } from "./pass.ts";

/** Length of a generated key in bytes (what HMAC-SHA-256 needs). */
const TOKEN_BYTES = 32;
/** A publicly known key is warned of so often, in milliseconds. */
const WARN_EVERY_MS = 24 * 60 * 60 * 1000;

/** Makes sure that the key exists before pods refer to it. An existing key is never changed. */
export async function authStep(pass: Pass, live: DeepReadonly<StatefulSet> | undefined): Promise<void> {
  const { memory } = pass;
  const { certification = {} } = pass.settings.spec;
  if (certification.enabled !== true) return;
  // The peer writes the key into the pod template itself.
  const literal = live && literalEnv(live).get("NACOS_AUTH_TOKEN");
  warnOfPublicToken(pass, literal ?? certification.token ?? "");
  if (certification.token || certification.tokenSecretRef?.name || literal !== undefined) return;
  const name = authSecretName(pass.settings.name);
  // Made once, so that a refused creation is the same one each time.
  memory.signingKey ??= Buffer.from(randomBytes(TOKEN_BYTES).toString("base64")).toString("base64");
  const token = memory.signingKey;
  const metadata = metadataOf(pass.resource, name);
  const { problem } = await pass.children.ensure<ConfigObject>(
    { kind: SECRET, name },
    {
      create: () => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata,
        type: "Opaque",
        data: { [AUTH_TOKEN_KEY]: token },
      }),
      update: (secret) => ({
        ...secret,
        metadata: metadataOver(secret.metadata, metadata),
        data: { ...secret.data, [AUTH_TOKEN_KEY]: secret.data?.[AUTH_TOKEN_KEY] || token },
      }),
    },
  );
  if (problem === undefined) delete memory.signingKey;
  else pass.failures.push(failureOf(problem));
}

function warnOfPublicToken({ memory, clock, notices }: Pass, token: string): void {
  if (!isPublicToken(token)) return;
  const now = clock.now();
  if (memory.tokenWarnedAt !== undefined && now - memory.tokenWarnedAt < WARN_EVERY_MS) return;
  memory.tokenWarnedAt = now;
  const note =
    "NACOS_AUTH_TOKEN is publicly known: anybody can forge logins; set certification.tokenSecretRef";
  notices.push(warning("InsecureDefaultToken", note));
}
