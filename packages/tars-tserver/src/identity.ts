/** Who asks: the controller itself, the system, or a user (API-001). */
import type { Client } from "@quartet/core";
import type { AdmissionRequest } from "@quartet/core/webhook";

/** Field manager of the writes that only the controller may make. */
export const FIELD_MANAGER = "quartet-tars";
const SERVICE_ACCOUNT = "system:serviceaccount:";
const SYSTEM_ACCOUNT = `${SERVICE_ACCOUNT}kube-system:`;

export interface Identities {
  /** The controller itself, or a user that is trusted like it. */
  isOperator(request: AdmissionRequest): Promise<boolean>;
  /** A part of Kubernetes, such as the garbage collector or the end of a namespace. */
  isSystem(request: AdmissionRequest): boolean;
  /** Finds out the manager's own name ahead of the first request; what fails is tried again then. */
  prepare(): Promise<void>;
}

export interface IdentityOptions {
  readonly client: Client;
  /** The manager's user name where it is known; else the API server is asked for it. */
  readonly username: string;
  readonly trusted: readonly string[];
}

/** Tells requests apart by their user. */
export function createIdentities({ client, username, trusted }: IdentityOptions): Identities {
  let own: Promise<string> | undefined;
  const ownName = (): Promise<string> => {
    own ??= (username === "" ? askForName(client) : Promise.resolve(username)).catch((error) => {
      own = undefined;
      throw error;
    });
    return own;
  };
  return {
    async isOperator(request) {
      const user = request.userInfo.username ?? "";
      if (trusted.includes(user)) return true;
      if (user !== (await ownName())) return false;
      // A manager that runs under the account of a person shares it with that person.
      return user.startsWith(SERVICE_ACCOUNT) || fieldManagerOf(request) === FIELD_MANAGER;
    },
    prepare: () =>
      ownName().then(
        () => {},
        () => {},
      ),
    isSystem: ({ userInfo }) => userInfo.username?.startsWith(SYSTEM_ACCOUNT) ?? false,
  };
}

function fieldManagerOf(request: AdmissionRequest): unknown {
  return (request as { options?: { fieldManager?: unknown } }).options?.fieldManager;
}

async function askForName(client: Client): Promise<string> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await client.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
  const { status } = answer as { status?: { userInfo?: { username?: string } } };
  return status?.userInfo?.username ?? "";
}
