/** Joins who a client is (token, certificate) with whom it trusts (CA) into credentials that renew themselves. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Connection, Credentials, TlsMaterial } from "./connection.ts";
import { CredentialsError } from "./errors.ts";
import type { FileValue } from "./files.ts";

/** Proof of identity. A renewal makes a new object. */
export interface Identity {
  /** Whole value of the `Authorization` header. */
  readonly authorization?: string;
  /** PEM texts; they replace a client certificate from files. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Where an identity comes from. */
export interface IdentitySource {
  get(): Identity | Promise<Identity>;
  /** A new identity, since the server refused this one; absent when there is no other. */
  refresh?(refused: Identity): Promise<Identity>;
}

/** PEM texts. */
export interface PemOptions {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** CA and client certificate as read from files or text. */
export interface TlsInputs {
  readonly options: PemOptions;
  /** Parsed from `options`, which proves that certificate and key fit together. */
  readonly material: TlsMaterial;
}

/** Parses PEM inputs. Throws when they are malformed or key and certificate do not fit. */
export function tlsInputs(
  options: PemOptions,
  verify: { servername: string | undefined; rejectUnauthorized: boolean },
): TlsInputs {
  // Node passes over a CA that it cannot parse, and would then trust nobody.
  if (options.ca !== undefined) new X509Certificate(options.ca);
  return { options, material: { secureContext: createSecureContext(options), ...verify } };
}

/** The part of a {@link Connection} that deals with credentials. */
export function renewingCredentials(
  source: IdentitySource,
  tls: Pick<FileValue<TlsInputs>, "get">,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Pick<Connection, "credentials" | "refresh"> {
  let last: { identity: Identity; inputs: TlsInputs; credentials: Credentials } | undefined;

  const combine = (identity: Identity): Credentials => {
    const inputs = tls.get();
    if (last?.identity === identity && last.inputs === inputs) return last.credentials;
    const sameTls = last?.inputs === inputs && last.identity.certificate === identity.certificate;
    const credentials: Credentials = {
      headers: {
        ...headers,
        ...(identity.authorization === undefined ? {} : { authorization: identity.authorization }),
      },
      tls: sameTls && last !== undefined ? last.credentials.tls : materialOf(inputs, identity),
    };
    last = { identity, inputs, credentials };
    return credentials;
  };

  const credentials = (): Credentials | Promise<Credentials> => {
    const identity = source.get();
    return identity instanceof Promise ? identity.then(combine) : combine(identity);
  };
  if (source.refresh === undefined) return { credentials };
  const renew = source.refresh.bind(source);
  return {
    credentials,
    async refresh(refused) {
      // Another request may have renewed them while this one was on its way.
      if (last === undefined || last.credentials !== refused) return credentials();
      return combine(await renew(last.identity));
    },
  };
}

function materialOf(inputs: TlsInputs, identity: Identity): TlsMaterial {
  if (identity.certificate === undefined) return inputs.material;
  try {
    const secureContext = createSecureContext({ ...inputs.options, ...identity.certificate });
    return { ...inputs.material, secureContext };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CredentialsError(
      `the client certificate that the credential plugin returned is unusable: ${reason}`,
    );
  }
}

/** Identity that never changes. */
export function fixedIdentity(identity: Identity): IdentitySource {
  return { get: () => identity };
}

/** Bearer token of a file. */
export function tokenIdentity(file: FileValue<Identity>): IdentitySource {
  return { get: file.get, refresh: () => Promise.resolve(file.reread()) };
}

/** Parses the content of a token file. */
export function bearer(content: Buffer | undefined): Identity {
  const token = content?.toString("utf8").trim() ?? "";
  if (token === "") throw new Error("the token file is empty");
  return { authorization: `Bearer ${token}` };
}
