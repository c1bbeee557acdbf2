/** Kinds that are questions: access reviews, token reviews, who am I. */
import { type Attributes, authorize, rulesFor, type Users } from "../auth.ts";
import { parseObject } from "../body.ts";
import type { Answer, Call, User } from "../call.ts";
import { decodeObject } from "../decode.ts";
import { items, type JsonObject, record, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Server } from "../server.ts";
import { invalid, invalidValue } from "../status.ts";

function attributesOf(object: KubeObject): Attributes {
  const { resourceAttributes, nonResourceAttributes } = record(object.spec);
  if ((resourceAttributes === undefined) === (nonResourceAttributes === undefined)) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    throw invalid({ group: "authorization.k8s.io", kind: object.kind }, "", [
      invalidValue("spec.resourceAttributes", resourceAttributes, why),
    ]);
  }
  const wanted = record(resourceAttributes);
  return {
    verb: text(wanted.verb) || text(record(nonResourceAttributes).verb),
    group: text(wanted.group),
    resource: text(wanted.resource),
    subresource: text(wanted.subresource),
    namespace: text(wanted.namespace),
    name: text(wanted.name),
    path: nonResourceAttributes === undefined ? undefined : text(record(nonResourceAttributes).path),
  };
}

function accessStatus(server: Server, user: User, object: KubeObject): JsonObject {
  const { allowed, reason } = authorize(server, user, attributesOf(object));
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function rulesStatus(server: Server, user: User, object: KubeObject): JsonObject {
  const rules = rulesFor(server, user, text(record(object.spec).namespace));
  const ofKind = (field: string): JsonObject[] => rules.filter((rule) => rule[field] !== undefined);
  return {
    resourceRules: ofKind("resources"),
    nonResourceRules: ofKind("nonResourceURLs"),
    incomplete: false,
  };
}

function namedUser(object: KubeObject): User {
  const spec = record(object.spec);
  return { name: text(spec.user), uid: text(spec.uid), groups: items(spec.groups).map(text) };
}

function userInfo(user: User): JsonObject {
  return {
    username: user.name,
    ...(user.uid === "" ? {} : { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

function tokenStatus(users: Users, object: KubeObject): JsonObject {
  const user = users.byToken(text(record(object.spec).token));
  if (user === undefined) return { user: {}, error: "invalid bearer token" };
  return { authenticated: true, user: userInfo(user) };
}

/** Answers a review, or `undefined` for other kinds. */
export function review(server: Server, users: Users, call: Call): Answer | undefined {
  const answer = (status: (object: KubeObject) => JsonObject): Answer => {
    const { object } = decodeObject(server, call.type, parseObject(call).value);
    return { code: 201, body: { ...object, status: status(object) } };
  };
  switch (call.type.kind) {
    case "SelfSubjectAccessReview":
      return answer((object) => accessStatus(server, call.user, object));
    case "SelfSubjectRulesReview":
      return answer((object) => rulesStatus(server, call.user, object));
    case "SubjectAccessReview":
    case "LocalSubjectAccessReview":
      return answer((object) => accessStatus(server, namedUser(object), object));
    case "TokenReview":
      return answer((object) => tokenStatus(users, object));
    case "SelfSubjectReview":
      return answer(() => ({ userInfo: userInfo(call.user) }));
    default:
      return undefined;
  }
}
