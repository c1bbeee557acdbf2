/** Sends a routed request to its verb. */
import type { Users } from "../auth.ts";
import type { Answer, Call } from "../call.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { Server } from "../server.ts";
import { methodNotAllowed } from "../status.ts";
import { create } from "../verbs/create.ts";
import { remove, removeCollection } from "../verbs/delete.ts";
import { get, list } from "../verbs/list.ts";
import { patch } from "../verbs/patch.ts";
import { review } from "../verbs/reviews.ts";
import { bind, evict, finalizeNamespace, requestToken, scale } from "../verbs/subresources.ts";
import { replace } from "../verbs/update.ts";
import { watch } from "../verbs/watch.ts";
import { viewOf } from "../view.ts";

function shown(server: Server, call: Call, object: KubeObject, code: number): Answer {
  return { code, text: viewOf(server, call).one(object) };
}

async function ownShape(server: Server, users: Users, call: Call): Promise<Answer | undefined> {
  if (call.subresource === "scale") return await scale(server, call);
  const post = call.method === "POST";
  if (!post && ["binding", "eviction", "token"].includes(call.subresource)) throw methodNotAllowed();
  switch (call.subresource) {
    case "binding":
      return await bind(server, call);
    case "eviction":
      return await evict(server, call);
    case "finalize":
      return await finalizeNamespace(server, call);
    case "token":
      return await requestToken(server, call, (namespace, name) => {
        const account = server.store.get("serviceaccounts", keyOf(namespace, name));
        return users.issueFor(namespace, name, account?.metadata.uid ?? "");
      });
    default:
      return undefined;
  }
}

async function collection(server: Server, users: Users, call: Call): Promise<Answer> {
  if (!call.type.verbs.includes(call.verb)) throw methodNotAllowed();
  switch (call.verb) {
    case "watch":
      return await watch(server, call);
    case "list":
      return await list(server, call);
    case "create":
      if (call.type.namespaced && call.namespace === "") throw methodNotAllowed();
      return review(server, users, call) ?? shown(server, call, await create(server, call), 201);
    case "deletecollection":
      return await removeCollection(server, call);
    default:
      throw methodNotAllowed();
  }
}

/** Answers a request for a resource; throws a Failure. */
export async function dispatch(server: Server, users: Users, call: Call): Promise<Answer> {
  const own = await ownShape(server, users, call);
  if (own !== undefined) return own;
  if (call.name === "") return await collection(server, users, call);
  switch (call.verb) {
    case "get":
      return await get(server, call);
    case "update": {
      const { object, created } = await replace(server, call);
      return shown(server, call, object, created ? 201 : 200);
    }
    case "patch":
    case "apply": {
      const { object, created } = await patch(server, call);
      return shown(server, call, object, created ? 201 : 200);
    }
    case "delete":
      if (call.subresource !== "") throw methodNotAllowed();
      return await remove(server, call);
    default:
      throw methodNotAllowed();
  }
}
