// Generated from crds/ by `npm run generate`: edit the CRD instead.
import type { ObjectMeta } from "@quartet/core";

/**
 * Nacos is one installation of the Nacos server: a single node or a cluster.
 */
export interface Nacos {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Desired state of the Nacos installation.
 */
spec?: {
/**
 * Deployment mode: standalone (one node) or cluster. Default: standalone. Cannot be changed once the StatefulSet exists.
 */
type?: ("standalone" | "cluster" | "")
/**
 * Nacos server image. Needed.
 */
image?: string
/**
 * Secrets for pulling the images.
 * 
 * @maxItems 100
 * 
 * Items: Reference to a Secret in the same namespace.
 */
imagePullSecrets?: {
/**
 * Name of the Secret.
 */
name?: string
}[]
/**
 * Number of Nacos nodes. Default: 1 in standalone mode, 3 in cluster mode. Zero stops all nodes and keeps everything else.
 */
replicas?: number
/**
 * Compute resources of the Nacos container.
 */
resources?: {
/**
 * Claims lists the names of resources, defined in spec.resourceClaims, that are used by this container.
 * 
 * Items: ResourceClaim references one entry in PodSpec.ResourceClaims.
 */
claims?: {
/**
 * Name must match the name of one entry in pod.spec.resourceClaims of the Pod where this field is used.
 */
name: string
/**
 * Request is the name chosen for a request in the referenced claim.
 */
request?: string
}[]
/**
 * Limits describes the maximum amount of compute resources allowed.
 */
limits?: {
[k: string]: number | string
}
/**
 * Requests describes the minimum amount of compute resources required.
 */
requests?: {
[k: string]: number | string
}
}
/**
 * Scheduling constraints of the pods.
 */
affinity?: {
/**
 * Describes node affinity scheduling rules for the pod.
 */
nodeAffinity?: {
/**
 * The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions.
 * 
 * Items: An empty preferred scheduling term matches all objects with implicit weight 0 (i.e. it's a no-op).
 */
preferredDuringSchedulingIgnoredDuringExecution?: {
/**
 * A node selector term, associated with the corresponding weight.
 */
preference: {
/**
 * A list of node selector requirements by node's labels.
 * 
 * Items: A node selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * The label key that the selector applies to.
 */
key: string
/**
 * Represents a key's relationship to a set of values.
 */
operator: string
/**
 * An array of string values.
 */
values?: string[]
}[]
/**
 * A list of node selector requirements by node's fields.
 * 
 * Items: A node selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchFields?: {
/**
 * The label key that the selector applies to.
 */
key: string
/**
 * Represents a key's relationship to a set of values.
 */
operator: string
/**
 * An array of string values.
 */
values?: string[]
}[]
}
/**
 * Weight associated with matching the corresponding nodeSelectorTerm, in the range 1-100.
 */
weight: number
}[]
/**
 * If the affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node.
 */
requiredDuringSchedulingIgnoredDuringExecution?: {
/**
 * Required. A list of node selector terms.
 * 
 * Items: A null or empty node selector term matches no objects.
 */
nodeSelectorTerms: {
/**
 * A list of node selector requirements by node's labels.
 * 
 * Items: A node selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * The label key that the selector applies to.
 */
key: string
/**
 * Represents a key's relationship to a set of values.
 */
operator: string
/**
 * An array of string values.
 */
values?: string[]
}[]
/**
 * A list of node selector requirements by node's fields.
 * 
 * Items: A node selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchFields?: {
/**
 * The label key that the selector applies to.
 */
key: string
/**
 * Represents a key's relationship to a set of values.
 */
operator: string
/**
 * An array of string values.
 */
values?: string[]
}[]
}[]
}
}
/**
 * Describes pod affinity scheduling rules (e.g. co-locate this pod in the same node, zone, etc. as some other pod(s)).
 */
podAffinity?: {
/**
 * The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions.
 * 
 * Items: The weights of all of the matched WeightedPodAffinityTerm fields are added per-node to find the most preferred node(s)
 */
preferredDuringSchedulingIgnoredDuringExecution?: {
/**
 * Required. A pod affinity term, associated with the corresponding weight.
 */
podAffinityTerm: {
/**
 * A label query over a set of resources, in this case pods.
 */
labelSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
matchLabelKeys?: string[]
/**
 * MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
mismatchLabelKeys?: string[]
/**
 * A label query over the set of namespaces that the term applies to.
 */
namespaceSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * namespaces specifies a static list of namespace names that the term applies to.
 */
namespaces?: string[]
/**
 * This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key …
 */
topologyKey: string
}
/**
 * weight associated with matching the corresponding podAffinityTerm, in the range 1-100.
 */
weight: number
}[]
/**
 * If the affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node.
 * 
 * Items: Defines a set of pods (namely those matching the labelSelector relative to the given namespace(s)) that this pod should be co-located (affinity) or not co-located (anti-affinity) with, where co-located is defined as running on a node …
 */
requiredDuringSchedulingIgnoredDuringExecution?: {
/**
 * A label query over a set of resources, in this case pods.
 */
labelSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
matchLabelKeys?: string[]
/**
 * MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
mismatchLabelKeys?: string[]
/**
 * A label query over the set of namespaces that the term applies to.
 */
namespaceSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * namespaces specifies a static list of namespace names that the term applies to.
 */
namespaces?: string[]
/**
 * This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key …
 */
topologyKey: string
}[]
}
/**
 * Describes pod anti-affinity scheduling rules (e.g. avoid putting this pod in the same node, zone, etc. as some other pod(s)).
 */
podAntiAffinity?: {
/**
 * The scheduler will prefer to schedule pods to nodes that satisfy the anti-affinity expressions specified by this field, but it may choose a node that violates one or more of the expressions.
 * 
 * Items: The weights of all of the matched WeightedPodAffinityTerm fields are added per-node to find the most preferred node(s)
 */
preferredDuringSchedulingIgnoredDuringExecution?: {
/**
 * Required. A pod affinity term, associated with the corresponding weight.
 */
podAffinityTerm: {
/**
 * A label query over a set of resources, in this case pods.
 */
labelSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
matchLabelKeys?: string[]
/**
 * MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
mismatchLabelKeys?: string[]
/**
 * A label query over the set of namespaces that the term applies to.
 */
namespaceSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * namespaces specifies a static list of namespace names that the term applies to.
 */
namespaces?: string[]
/**
 * This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key …
 */
topologyKey: string
}
/**
 * weight associated with matching the corresponding podAffinityTerm, in the range 1-100.
 */
weight: number
}[]
/**
 * If the anti-affinity requirements specified by this field are not met at scheduling time, the pod will not be scheduled onto the node.
 * 
 * Items: Defines a set of pods (namely those matching the labelSelector relative to the given namespace(s)) that this pod should be co-located (affinity) or not co-located (anti-affinity) with, where co-located is defined as running on a node …
 */
requiredDuringSchedulingIgnoredDuringExecution?: {
/**
 * A label query over a set of resources, in this case pods.
 */
labelSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
matchLabelKeys?: string[]
/**
 * MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration.
 */
mismatchLabelKeys?: string[]
/**
 * A label query over the set of namespaces that the term applies to.
 */
namespaceSelector?: {
/**
 * matchExpressions is a list of label selector requirements.
 * 
 * Items: A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.
 */
matchExpressions?: {
/**
 * key is the label key that the selector applies to.
 */
key: string
/**
 * operator represents a key's relationship to a set of values.
 */
operator: string
/**
 * values is an array of string values.
 */
values?: string[]
}[]
/**
 * matchLabels is a map of {key,value} pairs.
 */
matchLabels?: {
[k: string]: string
}
}
/**
 * namespaces specifies a static list of namespace names that the term applies to.
 */
namespaces?: string[]
/**
 * This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the label with key …
 */
topologyKey: string
}[]
}
}
/**
 * Taints that the pods tolerate.
 * 
 * @maxItems 500
 * 
 * Items: A taint that the pods tolerate.
 */
tolerations?: {
/**
 * Effect indicates the taint effect to match.
 */
effect?: string
/**
 * Key is the taint key that the toleration applies to.
 */
key?: string
/**
 * Operator represents a key's relationship to the value.
 */
operator?: string
/**
 * TolerationSeconds represents the period of time the toleration (which must be of effect NoExecute, otherwise this field is ignored) tolerates the taint.
 */
tolerationSeconds?: number
/**
 * Value is the taint value the toleration matches to.
 */
value?: string
}[]
/**
 * Labels that a node needs for the pods to run there.
 */
nodeSelector?: {
[k: string]: string
}
/**
 * Liveness probe of the Nacos container. Default for new clusters: TCP port 8848.
 */
livenessProbe?: {
/**
 * Exec specifies a command to execute in the container.
 */
exec?: {
/**
 * Command is the command line to execute inside the container, the working directory for the command is root ('/') in the container's filesystem.
 */
command?: string[]
}
/**
 * Minimum consecutive failures for the probe to be considered failed after having succeeded.
 */
failureThreshold?: number
/**
 * GRPC specifies a GRPC HealthCheckRequest.
 */
grpc?: {
/**
 * mode specifies the connection mode for the gRPC health probe.
 */
mode?: string
/**
 * Port number of the gRPC service.
 */
port: number
/**
 * Service is the name of the service to place in the gRPC HealthCheckRequest (see https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
 */
service?: string
}
/**
 * HTTPGet specifies an HTTP GET request to perform.
 */
httpGet?: {
/**
 * Host name to connect to, defaults to the pod IP.
 */
host?: string
/**
 * Custom headers to set in the request.
 * 
 * Items: HTTPHeader describes a custom header to be used in HTTP probes
 */
httpHeaders?: {
/**
 * The header field name.
 */
name: string
/**
 * The header field value
 */
value: string
}[]
/**
 * Path to access on the HTTP server.
 */
path?: string
/**
 * Name or number of the port to access on the container.
 */
port: (number | string)
/**
 * Protocol selects the wire protocol for the probe connection.
 */
protocol?: string
/**
 * Scheme to use for connecting to the host.
 */
scheme?: string
}
/**
 * Number of seconds after the container has started before liveness probes are initiated.
 */
initialDelaySeconds?: number
/**
 * How often (in seconds) to perform the probe.
 */
periodSeconds?: number
/**
 * Minimum consecutive successes for the probe to be considered successful after having failed.
 */
successThreshold?: number
/**
 * TCPSocket specifies a connection to a TCP port.
 */
tcpSocket?: {
/**
 * Optional: Host name to connect to, defaults to the pod IP.
 */
host?: string
/**
 * Number or name of the port to access on the container.
 */
port: (number | string)
}
/**
 * Optional duration in seconds the pod needs to terminate gracefully upon probe failure.
 */
terminationGracePeriodSeconds?: number
/**
 * Number of seconds after which the probe times out.
 */
timeoutSeconds?: number
}
/**
 * Readiness probe of the Nacos container. Default for new clusters: TCP port 8848.
 */
readinessProbe?: {
/**
 * Exec specifies a command to execute in the container.
 */
exec?: {
/**
 * Command is the command line to execute inside the container, the working directory for the command is root ('/') in the container's filesystem.
 */
command?: string[]
}
/**
 * Minimum consecutive failures for the probe to be considered failed after having succeeded.
 */
failureThreshold?: number
/**
 * GRPC specifies a GRPC HealthCheckRequest.
 */
grpc?: {
/**
 * mode specifies the connection mode for the gRPC health probe.
 */
mode?: string
/**
 * Port number of the gRPC service.
 */
port: number
/**
 * Service is the name of the service to place in the gRPC HealthCheckRequest (see https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
 */
service?: string
}
/**
 * HTTPGet specifies an HTTP GET request to perform.
 */
httpGet?: {
/**
 * Host name to connect to, defaults to the pod IP.
 */
host?: string
/**
 * Custom headers to set in the request.
 * 
 * Items: HTTPHeader describes a custom header to be used in HTTP probes
 */
httpHeaders?: {
/**
 * The header field name.
 */
name: string
/**
 * The header field value
 */
value: string
}[]
/**
 * Path to access on the HTTP server.
 */
path?: string
/**
 * Name or number of the port to access on the container.
 */
port: (number | string)
/**
 * Protocol selects the wire protocol for the probe connection.
 */
protocol?: string
/**
 * Scheme to use for connecting to the host.
 */
scheme?: string
}
/**
 * Number of seconds after the container has started before liveness probes are initiated.
 */
initialDelaySeconds?: number
/**
 * How often (in seconds) to perform the probe.
 */
periodSeconds?: number
/**
 * Minimum consecutive successes for the probe to be considered successful after having failed.
 */
successThreshold?: number
/**
 * TCPSocket specifies a connection to a TCP port.
 */
tcpSocket?: {
/**
 * Optional: Host name to connect to, defaults to the pod IP.
 */
host?: string
/**
 * Number or name of the port to access on the container.
 */
port: (number | string)
}
/**
 * Optional duration in seconds the pod needs to terminate gracefully upon probe failure.
 */
terminationGracePeriodSeconds?: number
/**
 * Number of seconds after which the probe times out.
 */
timeoutSeconds?: number
}
/**
 * Further environment variables of the Nacos container. Variables that the operator sets itself win over them; DOMAIN_NAME is read as the cluster's DNS domain.
 * 
 * @maxItems 1000
 * 
 * Items: An environment variable.
 */
env?: {
/**
 * Name of the environment variable.
 */
name: string
/**
 * Variable references $(VAR_NAME) are expanded using the previously defined environment variables in the container and any service environment variables.
 */
value?: string
/**
 * Source for the environment variable's value.
 */
valueFrom?: {
/**
 * Selects a key of a ConfigMap.
 */
configMapKeyRef?: {
/**
 * The key to select from the ConfigMap's Data field.
 */
key: string
/**
 * Name of the referent.
 */
name?: string
/**
 * Specify whether the ConfigMap or its key must be defined
 */
optional?: boolean
}
/**
 * Selects a field of the pod: supports metadata.name, metadata.namespace, `metadata.labels['<KEY>']`, `metadata.annotations['<KEY>']`, spec.nodeName, spec.serviceAccountName, status.hostIP, status.podIP, status.podIPs.
 */
fieldRef?: {
/**
 * Version of the schema the FieldPath is written in terms of, defaults to "v1".
 */
apiVersion?: string
/**
 * Path of the field to select in the specified API version.
 */
fieldPath: string
}
/**
 * FileKeyRef selects a key of the env file.
 */
fileKeyRef?: {
/**
 * The key within the env file.
 */
key: string
/**
 * Specify whether the file or its key must be defined.
 */
optional?: boolean
/**
 * The path within the volume from which to select the file.
 */
path: string
/**
 * The name of the volume mount containing the env file.
 */
volumeName: string
}
/**
 * Selects a resource of the container: only resources limits and requests (limits.cpu, limits.memory, limits.ephemeral-storage, requests.cpu, requests.memory and requests.ephemeral-storage) are currently supported.
 */
resourceFieldRef?: {
/**
 * Container name: required for volumes, optional for env vars
 */
containerName?: string
/**
 * Specifies the output format of the exposed resources, defaults to "1"
 */
divisor?: (number | string)
/**
 * Required: resource to select
 */
resource: string
}
/**
 * Selects a key of a secret in the pod's namespace
 */
secretKeyRef?: {
/**
 * The key of the secret to select from.
 */
key: string
/**
 * Name of the referent.
 */
name?: string
/**
 * Specify whether the Secret or its key must be defined
 */
optional?: boolean
}
}
}[]
/**
 * Functions that the nodes offer; empty or all means all of them. Sets FUNCTION_MODE.
 */
function_mode?: ("" | "naming" | "config" | "microservice" | "ai" | "all")
/**
 * Properties text for the legacy mount at init.d/custom.properties; ignored when userConfigRef or internalConfigRef is set. Images from 2.1.1 on do not read it.
 */
config?: string
/**
 * Properties kept by users: one key of a ConfigMap or Secret in the namespace of this resource. Without a name the reference counts as not set.
 */
userConfigRef?: {
/**
 * Name of the source object.
 */
name?: string
/**
 * Key of the properties text inside the source object. Default: user.properties.
 */
key?: string
/**
 * Kind of the source object. Default: ConfigMap.
 */
kind?: ("ConfigMap" | "Secret")
}
/**
 * Properties kept by operations; they come first in the final configuration, so that user properties of the same name win: one key of a ConfigMap or Secret in the namespace of this resource. Without a name the reference counts as not set.
 */
internalConfigRef?: {
/**
 * Name of the source object.
 */
name?: string
/**
 * Key of the properties text inside the source object. Default: internal.properties.
 */
key?: string
/**
 * Kind of the source object. Default: ConfigMap.
 */
kind?: ("ConfigMap" | "Secret")
}
/**
 * Name of the generated object that holds the merged configuration. Default: the name of this resource followed by -final-config.
 */
finalConfigName?: string
/**
 * Kind of the generated object. Default: Secret when a source is a Secret, else ConfigMap.
 */
finalConfigKind?: ("ConfigMap" | "Secret")
/**
 * Guards properties against being overridden by the user configuration.
 */
configPolicy?: {
/**
 * Property names or glob patterns (* and ?) that the user configuration should not set. Compared without regard to case, - and _.
 * 
 * @maxItems 100
 */
protectedKeys?: string[]
/**
 * Reject keeps the last good configuration in force, Warn only reports. Default: Warn.
 */
onViolation?: ("Reject" | "Warn")
}
/**
 * Storage of the Nacos nodes.
 */
database?: {
/**
 * Kind of database: embedded, mysql or postgresql (also postgres, pg). Default: embedded.
 */
type?: string
/**
 * Host of the MySQL server. Default: 127.0.0.1.
 */
mysqlHost?: string
/**
 * Port of the MySQL server. Default: 3306.
 */
mysqlPort?: string
/**
 * Name of the MySQL database. Default: nacos.
 */
mysqlDb?: string
/**
 * MySQL user. Default: root.
 */
mysqlUser?: string
/**
 * MySQL password in clear text. Deprecated: use credentialsSecretRef.
 */
mysqlPassword?: string
/**
 * Secret with the user name and password of the MySQL user; wins over mysqlUser and mysqlPassword.
 */
credentialsSecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the user name. Default: username.
 */
usernameKey?: string
/**
 * Key of the password. Default: password.
 */
passwordKey?: string
}
}
/**
 * Image with the MySQL client programs that creates database and tables; empty means no initialisation.
 */
mysqlInitImage?: string
/**
 * PostgreSQL connection of the operator itself, for schema initialisation and admin rotation. It is never given to the pods.
 */
postgres?: {
/**
 * Host of the PostgreSQL server; empty switches the feature off.
 */
host?: string
/**
 * Port of the PostgreSQL server. Default: 5432.
 */
port?: string
/**
 * Name of the database. Needed when host is set.
 */
database?: string
/**
 * Secret with the user name and password of the PostgreSQL user; needed when host is set.
 */
credentialsSecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the user name. Default: username.
 */
usernameKey?: string
/**
 * Key of the password. Default: password.
 */
passwordKey?: string
}
/**
 * How TLS is used, in the terms of libpq. Default: prefer.
 */
sslMode?: ("disable" | "prefer" | "require" | "verify-ca" | "verify-full")
/**
 * Secret with the CA certificate of the server; needed for verify-ca and verify-full.
 */
caSecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the PEM text. Default: ca.crt.
 */
key?: string
}
}
/**
 * Initialisation of the PostgreSQL schema.
 */
pgInit?: {
/**
 * Whether the schema is initialised. Default: true when postgres.host is set.
 */
enabled?: (boolean | null)
/**
 * Limit for connecting and running the script, in seconds, 1 to 600. Default: 20; 0 means the default.
 */
timeoutSeconds?: number
/**
 * Desired version of the schema. Default: 1; 0 means the default.
 */
schemaVersion?: number
/**
 * When the script runs. Default: IfNotPresent.
 */
policy?: ("IfNotPresent" | "Always" | "Never" | "BumpVersion" | "")
}
/**
 * Secret with the administrator's name and bcrypt password hash, written to the PostgreSQL database.
 */
adminCredentialsSecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the user name. Default: username.
 */
usernameKey?: string
/**
 * Key of the bcrypt hash. Default: passwordHash.
 */
passwordHashKey?: string
}
/**
 * Explicit trigger of an administrator rotation: any change of this text rotates.
 */
adminSecretChecksum?: string
/**
 * Secret with the server identity header that the operator's own calls to Nacos carry.
 */
identitySecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the header's name. Default: identity_key.
 */
keyKey?: string
/**
 * Key of the header's value. Default: identity_value.
 */
valueKey?: string
}
/**
 * Authentication of the Nacos server (NACOS_AUTH_ variables).
 */
certification?: {
/**
 * Switches authentication on. Default: false.
 */
enabled?: boolean
/**
 * JWT signing key, base64, at least 32 bytes decoded. Deprecated: use tokenSecretRef. Without either a key is generated.
 */
token?: string
/**
 * Secret with the JWT signing key.
 */
tokenSecretRef?: {
/**
 * Name of the Secret, in the namespace of this resource.
 */
name?: string
/**
 * Key of the token. Default: token.
 */
key?: string
}
/**
 * Life of an access token in seconds. Default: 18000.
 */
token_expire_seconds?: string
/**
 * Lets Nacos cache permissions. Default: false.
 */
cache_enabled?: boolean
}
/**
 * Data volume of the nodes, mounted at /home/nacos/data. Of several kinds the first counts: hostPath, emptyDir, volumeClaimTemplate.
 */
volume?: {
/**
 * Folder of the node's host.
 */
hostPath?: {
/**
 * Path of the folder on the host.
 */
path?: string
/**
 * Type of the path as in core/v1, for example DirectoryOrCreate.
 */
type?: string
}
/**
 * Empty folder as in core/v1 emptyDir; its content is lost with the pod.
 */
emptyDir?: {
[k: string]: unknown
}
/**
 * Claim template as in apps/v1 StatefulSet. Its name defaults to db, its access mode to ReadWriteOnce.
 */
volumeClaimTemplate?: {
[k: string]: unknown
}
/**
 * Storage request that overrides that of the claim template, for example 10Gi.
 */
persistentVolumeSize?: string
/**
 * Has no effect: claims are kept unless deletePolicy says otherwise.
 */
keepAfterDeletion?: boolean
/**
 * What happens to the claims when the StatefulSet is deleted. Default: Retain.
 */
deletePolicy?: ("Retain" | "Delete")
/**
 * Deprecated: asks for a claim template named db when none of the other kinds is set.
 */
enabled?: boolean
/**
 * Deprecated: storage request of that claim template.
 */
requests?: {
[k: string]: number | string
}
/**
 * Deprecated: storage class of that claim template.
 */
storageClass?: string
}
/**
 * Parts of the pod that the other fields do not cover.
 */
k8sWrapper?: {
/**
 * core/v1 PodSpec that is merged over the generated one. A container named like this resource merges into the Nacos container.
 */
PodSpec?: {
[k: string]: unknown
}
/**
 * Other spelling of PodSpec; set only one of them.
 */
podSpec?: {
[k: string]: unknown
}
}
/**
 * Settings of the client Service.
 */
clientService?: {
/**
 * Type of the Service. Default: that of the existing Service, else ClusterIP.
 */
type?: ("ClusterIP" | "NodePort" | "LoadBalancer")
/**
 * Annotations of the Service.
 */
annotations?: {
[k: string]: string
}
/**
 * Class of the load balancer, for type LoadBalancer.
 */
loadBalancerClass?: string
/**
 * IP families of the Service. Default: the cluster's.
 */
ipFamilies?: ("IPv4" | "IPv6")[]
/**
 * IP family policy of the Service. Default: the cluster's.
 */
ipFamilyPolicy?: ("SingleStack" | "PreferDualStack" | "RequireDualStack")
/**
 * Whether clients are sent to nodes that are not ready. Default: false for new Services; existing ones keep their value.
 */
publishNotReadyAddresses?: boolean
}
}
/**
 * Observed state, written by the operator.
 */
status?: {
/**
 * Creating, Running or Failed; empty before the first pass.
 */
phase?: ("" | "Creating" | "Running" | "Failed" | "Scaling")
/**
 * True exactly when the phase is Running.
 */
healthy?: boolean
/**
 * Nacos version that the nodes report.
 */
version?: string
/**
 * One entry per checked node, in the order of their ordinals; these have a podName. Behind them the conditions of operatorConditions, for kubectl wait and others that look for Ready here.
 * 
 * Items: State of one node, or a standard condition.
 */
conditions?: {
/**
 * Role of the node: leader, follower or unknown; or the type of a standard condition.
 */
type: string
/**
 * "true" for a node that passed the check, else "false"; True, False or Unknown of a standard condition.
 */
status: string
/**
 * Why the node failed, or why the condition has its status, one word.
 */
reason?: string
/**
 * The same for people.
 */
message?: string
/**
 * Generation that a standard condition speaks of.
 */
observedGeneration?: number
/**
 * When the status of a standard condition changed last.
 */
lastTransitionTime?: string
/**
 * IP address of the pod.
 */
instance?: string
/**
 * IP address of the pod's host.
 */
hostIP?: string
/**
 * Name of the pod.
 */
podName?: string
/**
 * Kubernetes node that the pod runs on.
 */
nodeName?: string
}[]
/**
 * Last outcomes, newest last, at most ten.
 * 
 * Items: One outcome.
 */
event?: {
/**
 * True for code 200.
 */
status: boolean
/**
 * 200 ok, 301 bad parameter or missing reference, 401 Nacos failure, 404 database or Secret failure, -1 other.
 */
code?: number
/**
 * What happened.
 */
message?: string
/**
 * When the outcome first appeared.
 */
firstAppearTime?: string
/**
 * When code or message last changed.
 */
lastTransitionTime?: string
}[]
/**
 * First 16 hexadecimal characters of the SHA-256 of the merged configuration in force; empty without one.
 */
configDigest?: string
/**
 * Fingerprint of spec.
 */
versionDigest?: string
/**
 * Outcome of the PostgreSQL schema initialisation.
 */
pg?: {
/**
 * True when the schema is in place.
 */
initialized?: boolean
/**
 * Version of the schema; 0 for one that the operator did not create.
 */
initVersion?: number
/**
 * When the schema was last initialised.
 */
lastInitTime?: string
/**
 * Success or Failed.
 */
lastResult?: string
/**
 * SQL state and short text of the last failure.
 */
lastMessage?: string
/**
 * Generation of this resource whose schema was last seen to be in place.
 */
observedGeneration?: number
}
/**
 * Outcome of the administrator rotation.
 */
admin?: {
/**
 * When the administrator was last rotated.
 */
lastRotateTime?: string
/**
 * Success or Failed.
 */
lastResult?: string
/**
 * Short text of the last failure.
 */
lastMessage?: string
/**
 * Version of the Secret at the last rotation.
 */
lastSecretResourceVersion?: string
/**
 * Checksum of the Secret at the last rotation.
 */
lastSecretChecksum?: string
}
/**
 * Generation of spec that the last pass saw.
 */
observedGeneration?: number
/**
 * Replicas of the StatefulSet.
 */
replicas?: number
/**
 * Nodes whose pod is Ready.
 */
readyReplicas?: number
/**
 * How the configuration is provided: none, legacy or merged.
 */
configMode?: string
/**
 * Name of the generated configuration object that the pods mount.
 */
finalConfigName?: string
/**
 * Kind of the generated configuration object that the pods mount.
 */
finalConfigKind?: string
/**
 * Label selector of the pods as text, for autoscalers.
 */
selector?: string
/**
 * Generator revision of the pod template.
 */
templateRevision?: string
/**
 * Standard conditions: Ready, SpecValid, ConfigReady, DatabaseReady, AdminReady, Progressing, NodesVerified.
 * 
 * Items: A condition.
 */
operatorConditions?: {
/**
 * Type of the condition.
 */
type: string
/**
 * True, False or Unknown.
 */
status: ("True" | "False" | "Unknown")
/**
 * Generation of spec that the condition is about.
 */
observedGeneration?: number
/**
 * When the status last changed.
 */
lastTransitionTime: string
/**
 * Cause of the status, one word.
 */
reason: string
/**
 * Cause of the status, for people.
 */
message: string
}[]
}
}
