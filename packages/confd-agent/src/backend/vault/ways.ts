/** The ways of logging in to Vault. */
import { readFileSync } from "node:fs";
import type { BackendSettings, Environment } from "../../config/settings.ts";
import { BackendError, ConfigError, codeOf, messageOf } from "../../errors.ts";

/** Where Kubernetes puts the token of a pod's account. */
const ACCOUNT_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** A request of a login: where, and what with. */
type Request = readonly [path: string, body: Readonly<Record<string, string>>];

/** What each way of logging in asks. */
export const WAYS: Readonly<Record<string, (settings: BackendSettings) => Request>> = {
  "app-role": ({ path, roleId, secretId }) => [
    `${path || "approle"}/login`,
    { role_id: need("role-id", roleId), secret_id: need("secret-id", secretId) },
  ],
  github: ({ path, authToken }) => [`${path || "github"}/login`, { token: need("auth-token", authToken) }],
  userpass: ({ path, username, password }) => [
    `${path || "userpass"}/login/${need("username", username)}`,
    { password: need("password", password) },
  ],
  kubernetes: ({ path, roleId }) => [
    `${path || "kubernetes"}/login`,
    { role: need("role-id", roleId), jwt: accountToken() },
  ],
  cert: ({ path }) => [`${path || "cert"}/login`, {}],
};

/** Throws a {@link ConfigError} where the settings name no way of logging in. */
export function checkLogin({ authType, authToken }: BackendSettings, environment: Environment): void {
  const known = ["token", ...Object.keys(WAYS)].join(", ");
  if (authType === "app-id") throw new ConfigError("auth-type app-id: Vault has it no more: use app-role");
  if (authType === "" || authType === "token") {
    if (authToken === "" && !environment.VAULT_TOKEN)
      throw new ConfigError(
        `vault: no token: give -auth-token or VAULT_TOKEN, or another -auth-type (${known})`,
      );
  } else if (!(authType in WAYS)) {
    throw new ConfigError(`auth-type ${JSON.stringify(authType)}: use one of ${known}`);
  }
}

function need(flag: string, value: string): string {
  if (value === "") throw new ConfigError(`vault: this auth-type needs -${flag}`);
  return value;
}

function accountToken(): string {
  try {
    return readFileSync(ACCOUNT_TOKEN, "utf8").trim();
  } catch (error) {
    throw new BackendError(`vault: cannot read ${ACCOUNT_TOKEN}: ${codeOf(error) ?? messageOf(error)}`);
  }
}
