/** A token of Vault: as given, or by logging in; renewed while it is used. */
import type { BackendSettings, Environment } from "../../config/settings.ts";
import { BackendError } from "../../errors.ts";
import { encodePath, type HttpAnswer, type HttpNodes } from "../http.ts";
import { answerOf } from "./answer.ts";
import { WAYS } from "./ways.ts";

const LOOKUP = "/v1/auth/token/lookup-self";
/** A token is renewed when this part of its time is over. */
const RENEW_AFTER = 0.5;
const MILLIS = 1000;

export interface Login {
  /** The token to use now. */
  token(signal: AbortSignal): Promise<string>;
  /** Something was refused: when that was for the token, the next one is new. Whether there can be a new one. */
  refused(signal: AbortSignal): Promise<boolean>;
}

interface Token {
  readonly text: string;
  readonly renewable: boolean;
  /** Its time in milliseconds, 0 when it has no end. */
  readonly lifetime: number;
  readonly since: number;
}

export function createLogin(settings: BackendSettings, environment: Environment, nodes: HttpNodes): Login {
  const way = WAYS[settings.authType];
  let current: Token | undefined;
  let coming: Promise<Token> | undefined;

  const begin = async (signal: AbortSignal): Promise<Token> => {
    if (way === undefined) {
      const text = settings.authToken || environment.VAULT_TOKEN || "";
      const answer = await nodes.ask({ path: LOOKUP, headers: { "x-vault-token": text }, signal });
      // A token that may not look at itself can still be good.
      if (answer.status !== 200) return { text, renewable: false, lifetime: 0, since: performance.now() };
      const { data } = answerOf<{ data: { ttl?: number; renewable?: boolean } }>(answer.text);
      const { ttl, renewable } = data;
      return { text, renewable: renewable === true, lifetime: (ttl ?? 0) * MILLIS, since: performance.now() };
    }
    const [path, body] = way(settings);
    return tokenOf(
      await nodes.ask({ method: "POST", path: `/v1/auth/${encodePath(path)}`, body, signal }),
      "log in",
    );
  };
  const renew = async (old: Token, signal: AbortSignal): Promise<Token> => {
    const answer = await nodes.ask({
      method: "POST",
      path: "/v1/auth/token/renew-self",
      headers: { "x-vault-token": old.text },
      body: {},
      signal,
    });
    return answer.status === 200 ? tokenOf(answer, "renew the token") : await begin(signal);
  };
  const isDue = ({ lifetime, since }: Token): boolean =>
    lifetime > 0 && performance.now() - since > lifetime * RENEW_AFTER;
  return {
    token: async (signal) => {
      if (current !== undefined && !isDue(current)) return current.text;
      const old = current;
      coming ??= (old?.renewable === true ? renew(old, signal) : begin(signal)).finally(() => {
        coming = undefined;
      });
      current = await coming;
      return current.text;
    },
    refused: async (signal) => {
      if (way === undefined || current === undefined) return false;
      const headers = { "x-vault-token": current.text };
      const { status } = await nodes.ask({ path: LOOKUP, headers, signal });
      if (status === 200) return false;
      current = undefined;
      return true;
    },
  };
}

function tokenOf({ status, text }: HttpAnswer, what: string): Token {
  if (status !== 200)
    throw new BackendError(`vault: cannot ${what}: HTTP ${status} ${text.trim().slice(0, 200)}`);
  const { auth } = answerOf<{
    auth?: { client_token?: string; renewable?: boolean; lease_duration?: number };
  }>(text);
  if (!auth?.client_token) throw new BackendError(`vault: cannot ${what}: the answer holds no token`);
  return {
    text: auth.client_token,
    renewable: auth.renewable === true,
    lifetime: (auth.lease_duration ?? 0) * MILLIS,
    since: performance.now(),
  };
}
