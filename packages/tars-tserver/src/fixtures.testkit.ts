/** Objects that unit tests start from. */
import { ApiError } from "@quartet/core";
import type { TServer } from "./api.gen.ts";

type Spec = TServer["spec"];

/** The server of the acceptance scenarios, with members of its spec replaced. */
export function echoServer(spec: Partial<Spec> = {}, metadata: TServer["metadata"] = {}): TServer {
  return {
    apiVersion: "k8s.tars.io/v1beta2",
    kind: "TServer",
    metadata: { name: "demo-echoserver", namespace: "ns1", uid: "u1", ...metadata },
    spec: {
      app: "Demo",
      server: "EchoServer",
      subType: "tars",
      tars: {
        template: "tt.cpp",
        servants: [
          { name: "FirstObj", port: 10000 },
          { name: "SecondObj", port: 10001, isTcp: false },
        ],
      },
      k8s: { abilityAffinity: "None", replicas: 2 },
      ...spec,
    },
  };
}

/** A normal server with one port. */
export function webServer(k8s: Spec["k8s"] = {}): TServer {
  const server = echoServer({
    subType: "normal",
    normal: { ports: [{ name: "http", port: 8080 }] },
    k8s: k8s!,
  });
  delete server.spec.tars;
  return server;
}

/** An answer of the API server that refuses a request. */
export function apiRefusal(code: number, reason: string, message: string, cause?: string): ApiError {
  return new ApiError({
    ...{ code, reason, message, method: "POST", path: "/" },
    details: { causes: cause === undefined ? [] : [{ reason: cause }] },
    ...{ retryAfterSeconds: undefined, continueToken: undefined },
  });
}
