/** A TServer in the form that the translator works on, whatever version it was written in (D2). */
import type { DeepReadonly } from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { readCarry } from "../conversion/carry.ts";

export type Spec = DeepReadonly<TServer["spec"]>;
export type K8s = NonNullable<Spec["k8s"]>;
export type Tars = NonNullable<Spec["tars"]>;
export type Servant = Tars["servants"][number];
export type Port = NonNullable<Tars["ports"]>[number];
export type Mount = NonNullable<K8s["mounts"]>[number];
export type Release = NonNullable<Spec["release"]>;

/** A port of a server, whether of a servant or not, in the order in which they were given. */
export interface NamedPort {
  readonly name: string;
  readonly port: number;
  readonly isTcp: boolean;
  readonly servant: boolean;
}

/** Image of tarsnode that the framework gives to servers without one of their own. */
export interface NodeImage {
  readonly image: string;
  readonly secret: string;
}

/** A TServer with what v1beta2 has no place for. */
export interface ServerModel {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly app: string;
  readonly server: string;
  readonly spec: Spec;
  readonly k8s: K8s;
  /** Run by tarsnode. */
  readonly isTars: boolean;
  readonly released: Release | undefined;
  readonly ports: readonly NamedPort[];
  readonly gates: readonly string[];
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/** The model of a TServer as it is stored. */
export function modelOf(tserver: DeepReadonly<TServer>): ServerModel {
  const { metadata, spec } = tserver;
  const k8s = spec.k8s ?? {};
  const carry = readCarry(metadata.annotations);
  const gates = [...(k8s.readinessGate ? [k8s.readinessGate] : []), ...carry.readinessGates];
  return {
    name: metadata.name ?? "",
    namespace: metadata.namespace ?? "",
    uid: metadata.uid ?? "",
    app: spec.app,
    server: spec.server,
    spec,
    k8s,
    isTars: spec.subType === "tars",
    released: spec.release,
    ports: portsOf(spec),
    gates: [...new Set(gates)],
    command: carry.command,
    args: carry.args,
  };
}

/** All ports of a server: servants first, then further ports. */
export function portsOf({ tars, normal }: Spec): NamedPort[] {
  const own = ({ name, port, isTcp = true }: Servant | Port, servant: boolean): NamedPort => {
    return { name, port, isTcp, servant };
  };
  return tars === undefined
    ? (normal?.ports ?? []).map((port) => own(port, false))
    : [
        ...(tars.servants ?? []).map((servant) => own(servant, true)),
        ...(tars.ports ?? []).map((port) => own(port, false)),
      ];
}
