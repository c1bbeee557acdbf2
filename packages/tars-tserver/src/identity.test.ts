import type { Client } from "@quartet/core";
import type { AdmissionRequest } from "@quartet/core/webhook";
import { expect, it } from "vitest";
import { createIdentities, FIELD_MANAGER } from "./identity.ts";

const MANAGER = "system:serviceaccount:quartet:quartet";
const request = (username: string, fieldManager?: string): AdmissionRequest =>
  ({ userInfo: { username }, options: { fieldManager } }) as unknown as AdmissionRequest;

/** Identities of a manager whose API server knows it by a name. */
function identities(name: string, { username = "", trusted = ["trusted"] } = {}) {
  const asked: string[] = [];
  const client = {
    async raw(method: string, path: string) {
      asked.push(`${method} ${path}`);
      return { status: { userInfo: { username: name } } };
    },
  } as unknown as Client;
  return { asked, ...createIdentities({ client, username, trusted }) };
}

it("TARS-API-001 the manager asks once who it is, and is the operator like those it trusts", async () => {
  const { isOperator, asked } = identities(MANAGER);
  const users = [MANAGER, "trusted", "eve", "system:serviceaccount:quartet:other"];
  expect(await Promise.all(users.map((user) => isOperator(request(user))))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(asked).toEqual(["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"]);
});

it("TARS-API-001 a name that is given is not asked for", async () => {
  const { isOperator, asked } = identities("other", { username: MANAGER });
  expect(await isOperator(request(MANAGER))).toBe(true);
  expect(asked).toEqual([]);
});

it("TARS-API-001 a person whose login the manager has is the operator in the manager's own writes alone", async () => {
  const { isOperator } = identities("admin");
  expect(await isOperator(request("admin"))).toBe(false);
  expect(await isOperator(request("admin", FIELD_MANAGER))).toBe(true);
});

it("TARS-API-001 TARS-V-050 accounts of kube-system are the system", () => {
  const { isSystem } = identities(MANAGER);
  const users = ["system:serviceaccount:kube-system:generic-garbage-collector", MANAGER, "system:admin"];
  expect(users.map((user) => isSystem(request(user)))).toEqual([true, false, false]);
});
