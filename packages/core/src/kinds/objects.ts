/** Kinds that make no pods: the fields that controllers look at; every other field travels untouched. */
import type { KubeObject } from "../object.ts";
import type { JsonMap } from "./pod.ts";

export interface ServicePort extends JsonMap {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
  nodePort?: number;
}

export interface ServiceSpec extends JsonMap {
  type?: string;
  clusterIP?: string;
  externalName?: string;
  externalIPs?: string[];
  ports?: ServicePort[];
  selector?: Record<string, string>;
  publishNotReadyAddresses?: boolean;
}

export interface Service extends KubeObject {
  spec: ServiceSpec;
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

/** A ConfigMap (values are text) or a Secret (values are base64). */
export interface ConfigObject extends KubeObject {
  data?: Record<string, string>;
  /** Of a ConfigMap. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
  /** Of a Secret. */
  type?: string;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export interface Node extends KubeObject {
  spec?: JsonMap & { unschedulable?: boolean; taints?: Taint[] };
  status?: JsonMap & {
    addresses?: { type: string; address: string }[];
    conditions?: { type: string; status: string }[];
  };
}

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  /** Times are MicroTime texts. */
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** How the API server reaches a webhook. `caBundle` is base64. */
export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  caBundle?: string;
}

export interface CustomResourceDefinition extends KubeObject {
  spec: JsonMap & {
    group: string;
    scope?: string;
    names: { kind: string; plural: string; singular?: string; shortNames?: string[] };
    versions: (JsonMap & { name: string; served: boolean; storage?: boolean })[];
    conversion?: {
      strategy?: string;
      webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: string[] };
    };
  };
  status?: { conditions?: { type: string; status: string }[]; storedVersions?: string[] };
}

/** A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export interface WebhookConfiguration extends KubeObject {
  webhooks?: (JsonMap & { name: string; clientConfig: WebhookClientConfig })[];
}
