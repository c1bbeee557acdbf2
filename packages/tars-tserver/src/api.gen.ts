// Generated from crds/ by `npm run generate`: edit the CRD instead.
import type { ObjectMeta } from "@quartet/core";

/**
 * Account of the web console; its name is the MD5 of the user name.
 */
export interface TAccount {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * The account.
 */
spec: {
/**
 * Name of the user.
 */
username: string
/**
 * Further data of the console.
 */
extra?: string[]
/**
 * How the user signs in: a password when written, its bcrypt hash when stored.
 */
authentication: {
/**
 * New password; never stored.
 */
password?: string
/**
 * bcrypt hash of the lower-case hex SHA-1 of the password.
 */
bcryptPassword?: string
/**
 * Whether the account may be used.
 */
activated?: boolean
/**
 * Sessions and API tokens.
 * 
 * Items: One token.
 */
tokens?: {
/**
 * Name.
 */
name?: string
/**
 * The token.
 */
content?: string
/**
 * When it was written.
 */
updateTime?: string
/**
 * When it ends.
 */
expirationTime?: string
/**
 * Whether it may be used.
 */
valid?: boolean
}[]
}
/**
 * Rights.
 * 
 * Items: One right.
 */
authorization: {
/**
 * What it is about.
 */
flag?: string
/**
 * Role.
 */
role?: ("admin" | "operator" | "developer")
/**
 * When it was written.
 */
updateTime?: string
}[]
}
}

/**
 * One version of a configuration file of a server; a change is a new version.
 */
export interface TConfig {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Application; fixed.
 */
app: string
/**
 * Server, or empty for the whole application; fixed.
 */
server?: string
/**
 * Name of the file; fixed.
 */
configName: string
/**
 * `m` for all pods, or the number of one; fixed.
 */
podSeq?: string
/**
 * Text; fixed.
 */
configContent: string
/**
 * Whether this version is in force.
 */
activated?: boolean
/**
 * Set at creation.
 */
version?: string
/**
 * Set at creation.
 */
updateTime?: string
/**
 * Who wrote it; fixed.
 */
updatePerson?: string
/**
 * Why; fixed.
 */
updateReason?: string
}

/**
 * Request for a new server, which somebody approves.
 */
export interface TDeploy {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * The server that is asked for.
 */
apply: {
/**
 * Application.
 */
app: string
/**
 * Server.
 */
server: string
/**
 * Whether tarsnode runs it.
 */
subType: ("tars" | "normal")
/**
 * Weight that people see.
 */
important?: number
/**
 * What a server needs that tarsnode runs.
 */
tars?: {
/**
 * TTemplate of the configuration.
 */
template: string
/**
 * Private configuration, laid over the template.
 */
profile?: string
/**
 * Threads for asynchronous calls.
 */
asyncThread?: number
/**
 * Servants of the server, in the order of its ports.
 * 
 * Items: One servant.
 */
servants: {
/**
 * Name of the servant, unique without regard to case.
 */
name: string
/**
 * Port that the servant listens on.
 */
port: number
/**
 * Threads that serve requests.
 */
thread?: number
/**
 * Requests that may wait in the queue.
 */
capacity?: number
/**
 * Connections at most.
 */
connection?: number
/**
 * Speaks the TARS protocol.
 */
isTars?: boolean
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
/**
 * Time that a request may wait in the queue, ms.
 */
timeout?: number
/**
 * Accepted for manifests of the former name of TARS; it has no effect.
 */
isTaf?: boolean
}[]
/**
 * Further ports beside those of the servants.
 * 
 * Items: One port.
 */
ports?: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * Ports of a server that tarsnode does not run.
 */
normal?: {
/**
 * Ports that the server listens on.
 * 
 * Items: One port.
 */
ports: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * How the server runs in the cluster.
 */
k8s?: {
/**
 * Which nodes the server may run on, by their `tars.io/ability` labels.
 */
abilityAffinity?: ("AppRequired" | "ServerRequired" | "AppOrServerPreferred" | "None")
/**
 * One pod on each node instead of a number of replicas.
 */
daemonSet?: boolean
/**
 * Variables of the main container.
 * 
 * Items: One variable: a value, or where it comes from.
 */
env?: {
/**
 * Name of the variable.
 */
name: string
/**
 * The value.
 */
value?: string
/**
 * Where the value comes from: exactly one member.
 */
valueFrom?: {
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath?: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
/**
 * Key of a ConfigMap.
 */
configMapKeyRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Key of a Secret.
 */
secretKeyRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
}
}[]
/**
 * Sources whose keys become variables of the main container.
 * 
 * Items: One source.
 */
envFrom?: {
/**
 * All keys of a ConfigMap.
 */
configMapRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * All keys of a Secret.
 */
secretRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Put before each name.
 */
prefix?: string
}[]
/**
 * Use the node's IPC namespace.
 */
hostIPC?: boolean
/**
 * Use the node's network.
 */
hostNetwork?: boolean
/**
 * Ports of the node that lead to ports of the server.
 * 
 * Items: One port.
 */
hostPorts?: {
/**
 * Name of a servant or port of the server.
 */
nameRef: string
/**
 * Port of the node.
 */
port: number
}[]
/**
 * Volumes of the main container.
 * 
 * Items: One volume.
 */
mounts?: {
/**
 * Name of the volume.
 */
name?: string
/**
 * Where the files come from: exactly one member.
 */
source?: {
/**
 * A ConfigMap as files.
 */
configMap?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A Secret as files.
 */
secret?: {
/**
 * Name of the Secret.
 */
secretName: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A folder that lives as long as the pod.
 */
emptyDir?: {
/**
 * Where it is kept.
 */
medium?: ("" | "Memory")
/**
 * Size at most.
 */
sizeLimit?: (number | string)
}
/**
 * A path of the node.
 */
hostPath?: {
/**
 * The path.
 */
path: string
/**
 * What must be there.
 */
type?: ("" | "Directory" | "DirectoryOrCreate" | "FileOrCreate" | "File" | "Socket" | "CharDevice" | "BlockDevice")
}
/**
 * A claim that exists.
 */
persistentVolumeClaim?: {
/**
 * Name of the claim.
 */
claimName: string
/**
 * Mount it read-only.
 */
readOnly?: boolean
}
/**
 * A claim of its own for each pod. Claims stay when the server is deleted.
 */
persistentVolumeClaimTemplate?: {
/**
 * Labels and annotations of the claims.
 */
metadata?: {
/**
 * Labels of the claims.
 */
labels?: {
[k: string]: string
}
/**
 * Annotations of the claims.
 */
annotations?: {
[k: string]: string
}
}
/**
 * The claims.
 */
spec: {
/**
 * How the volume may be mounted.
 * 
 * @minItems 1
 */
accessModes: ("ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany")[]
/**
 * Volume to bind to.
 */
volumeName?: string
/**
 * Storage class.
 */
storageClassName?: string
/**
 * Kind of volume.
 */
volumeMode?: ("Block" | "Filesystem")
/**
 * Size.
 */
resources: {
/**
 * Size at most.
 */
limits?: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
/**
 * Size at least.
 */
requests: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
}
/**
 * Volumes that may be bound.
 */
selector?: {
/**
 * Labels that a volume must have.
 */
matchLabels?: {
[k: string]: string
}
/**
 * Requirements on the labels.
 * 
 * Items: One requirement.
 */
matchExpressions?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Label values.
 */
values?: string[]
}[]
}
}
}
/**
 * A folder of the node for each pod, made by the agent. Claims go with the server.
 */
tLocalVolume?: {
/**
 * Owner of the folder.
 */
uid?: string
/**
 * Group of the folder.
 */
gid?: string
/**
 * Mode of the folder, octal.
 */
mode?: string
}
/**
 * Facts about the pod as files.
 */
downwardAPI?: {
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * The files.
 * 
 * Items: One file.
 */
items?: {
/**
 * Path below the mount.
 */
path: string
/**
 * Mode, decimal.
 */
mode?: number
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
}[]
}
}
/**
 * Mount it read-only.
 */
readOnly?: boolean
/**
 * Where it is mounted.
 */
mountPath?: string
/**
 * Part of the volume that is mounted.
 */
subPath?: string
/**
 * The same, with variables put in.
 */
subPathExpr?: string
/**
 * How mounts are passed on.
 */
mountPropagation?: ("None" | "HostToContainer" | "Bidirectional")
}[]
/**
 * Requirements on the nodes.
 * 
 * Items: One requirement.
 */
nodeSelector?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt")
/**
 * Label values.
 */
values?: string[]
}[]
/**
 * At most one pod of the server on a node.
 */
notStacked?: boolean
/**
 * Whether pods start one after the other; fixed at creation.
 */
podManagementPolicy?: ("OrderedReady" | "Parallel")
/**
 * Condition that a pod needs to be ready.
 */
readinessGate?: string
/**
 * Number of pods; 0 until a version is released.
 */
replicas?: number
/**
 * Resources of the main container.
 */
resources?: {
/**
 * At least.
 */
requests?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
/**
 * At most.
 */
limits?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
}
/**
 * Service account of the pods.
 */
serviceAccount?: string
/**
 * When the image is pulled.
 */
imagePullPolicy?: ("Always" | "Never" | "IfNotPresent")
/**
 * Whether the server or tarsnode is the first process of the container.
 */
launcherType?: ("foreground" | "background")
/**
 * How pods are replaced.
 */
updateStrategy?: {
/**
 * By the controller, or by whoever deletes them.
 */
type?: ("RollingUpdate" | "OnDelete")
/**
 * Settings of RollingUpdate.
 */
rollingUpdate?: {
/**
 * Pods below this ordinal keep their version.
 */
partition?: number
}
}
}
/**
 * Note.
 */
mark?: string
/**
 * Who asks for it.
 */
person?: string
}
/**
 * Decision; it is final.
 */
approve?: {
/**
 * Who decides.
 */
person: string
/**
 * When.
 */
time: string
/**
 * Whether it is approved.
 */
result: boolean
/**
 * Why.
 */
reason: string
}
/**
 * Whether the TServer has been made; set by the controller.
 */
deployed?: boolean
}

/**
 * Pods of a server and their state; written by the controller for the registry.
 */
export interface TEndpoint {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * The server as its TServer says.
 */
spec?: {
/**
 * Application.
 */
app?: string
/**
 * Server.
 */
server?: string
/**
 * tars or normal.
 */
subType?: string
/**
 * Weight that people see.
 */
important?: number
/**
 * TARS part.
 */
tars?: {
/**
 * Template.
 */
template?: string
/**
 * Private configuration.
 */
profile?: string
/**
 * Threads for asynchronous calls.
 */
asyncThread?: number
/**
 * Servants.
 * 
 * Items: One servant.
 */
servants?: {
/**
 * Name.
 */
name?: string
/**
 * Port.
 */
port?: number
/**
 * Threads.
 */
thread?: number
/**
 * Queue capacity.
 */
capacity?: number
/**
 * Connections at most.
 */
connection?: number
/**
 * TARS protocol.
 */
isTars?: boolean
/**
 * TCP.
 */
isTcp?: boolean
/**
 * Time in the queue, ms.
 */
timeout?: number
}[]
/**
 * Further ports.
 * 
 * Items: One port.
 */
ports?: {
/**
 * Name.
 */
name?: string
/**
 * Port.
 */
port?: number
/**
 * TCP.
 */
isTcp?: boolean
}[]
}
/**
 * Normal part.
 */
normal?: {
/**
 * Ports.
 * 
 * Items: One port.
 */
ports?: {
/**
 * Name.
 */
name?: string
/**
 * Port.
 */
port?: number
/**
 * TCP.
 */
isTcp?: boolean
}[]
}
/**
 * Ports of the node.
 * 
 * Items: One port.
 */
hostPorts?: {
/**
 * Port of the server.
 */
nameRef?: string
/**
 * Port of the node.
 */
port?: number
}[]
/**
 * Published version.
 */
release?: {
/**
 * Version.
 */
id?: string
/**
 * Image.
 */
image?: string
/**
 * Secret of the image.
 */
secret?: string
/**
 * When it was published.
 */
time?: string
/**
 * Image of tarsnode.
 */
nodeImage?: string
/**
 * Its secret.
 */
nodeSecret?: string
}
}
/**
 * State of the pods.
 */
status?: {
/**
 * Pods by name.
 * 
 * Items: One pod.
 */
pods: {
/**
 * UID of the pod.
 */
uid?: string
/**
 * Process of the server.
 */
pid?: string
/**
 * Name of the pod.
 */
name?: string
/**
 * Address of the pod.
 */
podIP?: string
/**
 * Address of the node.
 */
hostIP?: string
/**
 * When the pod was created.
 */
startTime?: string
/**
 * Containers.
 * 
 * Items: One container.
 */
containerStatuses?: {
/**
 * Name.
 */
name?: string
/**
 * Image.
 */
image?: string
/**
 * Image ID.
 */
imageID?: string
/**
 * Container ID.
 */
containerID?: string
/**
 * Ready.
 */
ready?: boolean
/**
 * Started.
 */
started?: boolean
/**
 * Restarts.
 */
restartCount?: number
/**
 * Present state.
 */
state?: {
/**
 * It runs.
 */
running?: {
/**
 * Since when.
 */
startedAt?: string
}
/**
 * It has ended.
 */
terminated?: {
/**
 * ID of the container.
 */
containerID?: string
/**
 * Exit code.
 */
exitCode?: number
/**
 * When it ended.
 */
finishedAt?: string
/**
 * Why, for people.
 */
message?: string
/**
 * Why, in one word.
 */
reason?: string
/**
 * Signal that ended it.
 */
signal?: number
/**
 * When it started.
 */
startedAt?: string
}
/**
 * It has not started.
 */
waiting?: {
/**
 * Why, for people.
 */
message?: string
/**
 * Why, in one word.
 */
reason?: string
}
}
/**
 * State before.
 */
lastState?: {
/**
 * It runs.
 */
running?: {
/**
 * Since when.
 */
startedAt?: string
}
/**
 * It has ended.
 */
terminated?: {
/**
 * ID of the container.
 */
containerID?: string
/**
 * Exit code.
 */
exitCode?: number
/**
 * When it ended.
 */
finishedAt?: string
/**
 * Why, for people.
 */
message?: string
/**
 * Why, in one word.
 */
reason?: string
/**
 * Signal that ended it.
 */
signal?: number
/**
 * When it started.
 */
startedAt?: string
}
/**
 * It has not started.
 */
waiting?: {
/**
 * Why, for people.
 */
message?: string
/**
 * Why, in one word.
 */
reason?: string
}
}
}[]
/**
 * State that is wanted.
 */
settingState?: string
/**
 * State that is.
 */
presentState?: string
/**
 * More about it.
 */
presentMessage?: string
/**
 * Released version that the pod runs.
 */
id?: string
}[]
}
}

/**
 * Pods of a server that have ended, newest first; written by the controller.
 */
export interface TExitedRecord {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Application.
 */
app: string
/**
 * Server.
 */
server: string
/**
 * The pods.
 * 
 * @maxItems 150
 * 
 * Items: One pod that has ended.
 */
pods: {
/**
 * UID of the pod.
 */
uid?: string
/**
 * Name of the pod.
 */
name?: string
/**
 * Released version that it ran.
 */
id?: string
/**
 * Address of its node.
 */
nodeIP?: string
/**
 * Its address.
 */
podIP?: string
/**
 * When it was created.
 */
createTime?: string
/**
 * When it ended.
 */
deleteTime?: string
}[]
}

/**
 * Settings of a framework; one object `tars-framework` a namespace.
 */
export interface TFrameworkConfig {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Building of images.
 */
imageBuild?: {
/**
 * Time that a build may take, s.
 */
maxBuildTime?: number
/**
 * Form of the names of versions.
 */
idFormat?: string
}
/**
 * Where images are kept.
 */
imageRegistry: {
/**
 * Address.
 */
registry: string
/**
 * Secret to push and pull.
 */
secret?: string
}
/**
 * Image of tarsnode for servers that name none.
 */
nodeImage: {
/**
 * Image.
 */
image: string
/**
 * Secret to pull it.
 */
secret?: string
}
/**
 * How much is kept.
 */
recordLimit?: {
/**
 * Pods that have ended, of each server.
 */
texitedPod?: number
/**
 * Inactive versions of each configuration.
 */
tconfigHistory?: number
/**
 * Versions of each image.
 */
timageRelease?: number
}
/**
 * Registries outside, by application; `default` for all others.
 */
upChain?: {
/**
 * Endpoints.
 * 
 * @minItems 1
 * 
 * Items: One endpoint.
 */
[k: string]: {
/**
 * Host.
 */
host?: string
/**
 * Port.
 */
port?: number
/**
 * Time limit, ms.
 */
timeout?: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * Further settings.
 */
expand?: {
[k: string]: string
}
}

/**
 * Settings of a framework; one object `tars-framework` a namespace.
 */
export interface TFrameworkConfigV1Beta3 {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Building of images.
 */
imageBuild: {
/**
 * Time that a build may take, s.
 */
maxBuildTime?: number
/**
 * Form of the names of versions.
 */
idFormat?: string
/**
 * Image that builds.
 */
executor: {
/**
 * Image.
 */
image: string
/**
 * Secret to pull it.
 */
secret?: string
}
}
/**
 * Where images are kept.
 */
imageUpload: {
/**
 * Address.
 */
registry: string
/**
 * Secret to push and pull.
 */
secret?: string
}
/**
 * Image of tarsnode for servers that name none.
 */
nodeImage: {
/**
 * Image.
 */
image: string
/**
 * Secret to pull it.
 */
secret?: string
}
/**
 * How much is kept.
 */
recordLimit?: {
/**
 * Pods that have ended, of each server.
 */
texitedPod?: number
/**
 * Inactive versions of each configuration.
 */
tconfigHistory?: number
/**
 * Versions of each image.
 */
timageRelease?: number
}
/**
 * Registries outside, by application; `default` for all others.
 */
upChain?: {
/**
 * Endpoints.
 * 
 * @minItems 1
 * 
 * Items: One endpoint.
 */
[k: string]: {
/**
 * Host.
 */
host?: string
/**
 * Port.
 */
port?: number
/**
 * Time limit, ms.
 */
timeout?: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * Further settings.
 */
expand?: {
[k: string]: string
}
}

/**
 * Images of a server, of a base or of tarsnode.
 */
export interface TImage {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What the images are.
 */
imageType?: ("base" | "server" | "node")
/**
 * Kinds of servers that run on the image.
 * 
 * @minItems 1
 */
supportedType?: ("cpp" | "nodejs" | "nodejs-pkg" | "java-war" | "java-jar" | "go" | "php")[]
/**
 * Note.
 */
mark?: string
/**
 * Version for new servers.
 */
default?: string
/**
 * Versions, newest first.
 * 
 * @maxItems 120
 * 
 * Items: One version.
 */
releases?: {
/**
 * Name of the version.
 */
id: string
/**
 * Image.
 */
image: string
/**
 * Secret to pull the image.
 */
secret?: string
/**
 * Who made it.
 */
createPerson?: string
/**
 * When it was made.
 */
createTime?: string
/**
 * Note.
 */
mark?: string
}[]
/**
 * Builds.
 */
build?: {
/**
 * The last one.
 */
last?: {
/**
 * Version that is built.
 */
id: string
/**
 * Image that it is built on.
 */
baseImage: string
/**
 * Secret to pull it.
 */
baseImageSecret?: string
/**
 * Image that comes of it.
 */
image: string
/**
 * Secret to push it.
 */
secret?: string
/**
 * Kind of server.
 */
serverType?: ("cpp" | "nodejs" | "nodejs-pkg" | "java-war" | "java-jar" | "go" | "php")
/**
 * Who asked for it.
 */
createPerson?: string
/**
 * When it began.
 */
createTime?: string
/**
 * Note.
 */
mark?: string
/**
 * How far it is.
 */
phase?: string
/**
 * More about it.
 */
message?: string
/**
 * Who builds it.
 */
handler?: string
}
/**
 * The one that runs.
 */
running?: {
/**
 * Version that is built.
 */
id: string
/**
 * Image that it is built on.
 */
baseImage: string
/**
 * Secret to pull it.
 */
baseImageSecret?: string
/**
 * Image that comes of it.
 */
image: string
/**
 * Secret to push it.
 */
secret?: string
/**
 * Kind of server.
 */
serverType?: ("cpp" | "nodejs" | "nodejs-pkg" | "java-war" | "java-jar" | "go" | "php")
/**
 * Who asked for it.
 */
createPerson?: string
/**
 * When it began.
 */
createTime?: string
/**
 * Note.
 */
mark?: string
/**
 * How far it is.
 */
phase?: string
/**
 * More about it.
 */
message?: string
/**
 * Who builds it.
 */
handler?: string
}
}
}

/**
 * A TARS server, or another program that belongs to a TARS framework.
 */
export interface TServer {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What the server is and how it runs.
 */
spec: {
/**
 * Application.
 */
app: string
/**
 * Server.
 */
server: string
/**
 * Whether tarsnode runs it.
 */
subType: ("tars" | "normal")
/**
 * Weight that people see.
 */
important?: number
/**
 * What a server needs that tarsnode runs.
 */
tars?: {
/**
 * TTemplate of the configuration.
 */
template: string
/**
 * Private configuration, laid over the template.
 */
profile?: string
/**
 * Threads for asynchronous calls.
 */
asyncThread?: number
/**
 * Servants of the server, in the order of its ports.
 * 
 * Items: One servant.
 */
servants: {
/**
 * Name of the servant, unique without regard to case.
 */
name: string
/**
 * Port that the servant listens on.
 */
port: number
/**
 * Threads that serve requests.
 */
thread?: number
/**
 * Requests that may wait in the queue.
 */
capacity?: number
/**
 * Connections at most.
 */
connection?: number
/**
 * Speaks the TARS protocol.
 */
isTars?: boolean
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
/**
 * Time that a request may wait in the queue, ms.
 */
timeout?: number
/**
 * Accepted for manifests of the former name of TARS; it has no effect.
 */
isTaf?: boolean
}[]
/**
 * Further ports beside those of the servants.
 * 
 * Items: One port.
 */
ports?: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * Ports of a server that tarsnode does not run.
 */
normal?: {
/**
 * Ports that the server listens on.
 * 
 * Items: One port.
 */
ports: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * How the server runs in the cluster.
 */
k8s?: {
/**
 * Which nodes the server may run on, by their `tars.io/ability` labels.
 */
abilityAffinity?: ("AppRequired" | "ServerRequired" | "AppOrServerPreferred" | "None")
/**
 * One pod on each node instead of a number of replicas.
 */
daemonSet?: boolean
/**
 * Variables of the main container.
 * 
 * Items: One variable: a value, or where it comes from.
 */
env?: {
/**
 * Name of the variable.
 */
name: string
/**
 * The value.
 */
value?: string
/**
 * Where the value comes from: exactly one member.
 */
valueFrom?: {
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath?: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
/**
 * Key of a ConfigMap.
 */
configMapKeyRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Key of a Secret.
 */
secretKeyRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
}
}[]
/**
 * Sources whose keys become variables of the main container.
 * 
 * Items: One source.
 */
envFrom?: {
/**
 * All keys of a ConfigMap.
 */
configMapRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * All keys of a Secret.
 */
secretRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Put before each name.
 */
prefix?: string
}[]
/**
 * Use the node's IPC namespace.
 */
hostIPC?: boolean
/**
 * Use the node's network.
 */
hostNetwork?: boolean
/**
 * Ports of the node that lead to ports of the server.
 * 
 * Items: One port.
 */
hostPorts?: {
/**
 * Name of a servant or port of the server.
 */
nameRef: string
/**
 * Port of the node.
 */
port: number
}[]
/**
 * Volumes of the main container.
 * 
 * Items: One volume.
 */
mounts?: {
/**
 * Name of the volume.
 */
name?: string
/**
 * Where the files come from: exactly one member.
 */
source?: {
/**
 * A ConfigMap as files.
 */
configMap?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A Secret as files.
 */
secret?: {
/**
 * Name of the Secret.
 */
secretName: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A folder that lives as long as the pod.
 */
emptyDir?: {
/**
 * Where it is kept.
 */
medium?: ("" | "Memory")
/**
 * Size at most.
 */
sizeLimit?: (number | string)
}
/**
 * A path of the node.
 */
hostPath?: {
/**
 * The path.
 */
path: string
/**
 * What must be there.
 */
type?: ("" | "Directory" | "DirectoryOrCreate" | "FileOrCreate" | "File" | "Socket" | "CharDevice" | "BlockDevice")
}
/**
 * A claim that exists.
 */
persistentVolumeClaim?: {
/**
 * Name of the claim.
 */
claimName: string
/**
 * Mount it read-only.
 */
readOnly?: boolean
}
/**
 * A claim of its own for each pod. Claims stay when the server is deleted.
 */
persistentVolumeClaimTemplate?: {
/**
 * Labels and annotations of the claims.
 */
metadata?: {
/**
 * Labels of the claims.
 */
labels?: {
[k: string]: string
}
/**
 * Annotations of the claims.
 */
annotations?: {
[k: string]: string
}
}
/**
 * The claims.
 */
spec: {
/**
 * How the volume may be mounted.
 * 
 * @minItems 1
 */
accessModes: ("ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany")[]
/**
 * Volume to bind to.
 */
volumeName?: string
/**
 * Storage class.
 */
storageClassName?: string
/**
 * Kind of volume.
 */
volumeMode?: ("Block" | "Filesystem")
/**
 * Size.
 */
resources: {
/**
 * Size at most.
 */
limits?: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
/**
 * Size at least.
 */
requests: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
}
/**
 * Volumes that may be bound.
 */
selector?: {
/**
 * Labels that a volume must have.
 */
matchLabels?: {
[k: string]: string
}
/**
 * Requirements on the labels.
 * 
 * Items: One requirement.
 */
matchExpressions?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Label values.
 */
values?: string[]
}[]
}
}
}
/**
 * A folder of the node for each pod, made by the agent. Claims go with the server.
 */
tLocalVolume?: {
/**
 * Owner of the folder.
 */
uid?: string
/**
 * Group of the folder.
 */
gid?: string
/**
 * Mode of the folder, octal.
 */
mode?: string
}
/**
 * Facts about the pod as files.
 */
downwardAPI?: {
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * The files.
 * 
 * Items: One file.
 */
items?: {
/**
 * Path below the mount.
 */
path: string
/**
 * Mode, decimal.
 */
mode?: number
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
}[]
}
}
/**
 * Mount it read-only.
 */
readOnly?: boolean
/**
 * Where it is mounted.
 */
mountPath?: string
/**
 * Part of the volume that is mounted.
 */
subPath?: string
/**
 * The same, with variables put in.
 */
subPathExpr?: string
/**
 * How mounts are passed on.
 */
mountPropagation?: ("None" | "HostToContainer" | "Bidirectional")
}[]
/**
 * Requirements on the nodes.
 * 
 * Items: One requirement.
 */
nodeSelector?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt")
/**
 * Label values.
 */
values?: string[]
}[]
/**
 * At most one pod of the server on a node.
 */
notStacked?: boolean
/**
 * Whether pods start one after the other; fixed at creation.
 */
podManagementPolicy?: ("OrderedReady" | "Parallel")
/**
 * Condition that a pod needs to be ready.
 */
readinessGate?: string
/**
 * Number of pods; 0 until a version is released.
 */
replicas?: number
/**
 * Resources of the main container.
 */
resources?: {
/**
 * At least.
 */
requests?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
/**
 * At most.
 */
limits?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
}
/**
 * Service account of the pods.
 */
serviceAccount?: string
/**
 * When the image is pulled.
 */
imagePullPolicy?: ("Always" | "Never" | "IfNotPresent")
/**
 * Whether the server or tarsnode is the first process of the container.
 */
launcherType?: ("foreground" | "background")
/**
 * How pods are replaced.
 */
updateStrategy?: {
/**
 * By the controller, or by whoever deletes them.
 */
type?: ("RollingUpdate" | "OnDelete")
/**
 * Settings of RollingUpdate.
 */
rollingUpdate?: {
/**
 * Pods below this ordinal keep their version.
 */
partition?: number
}
}
}
/**
 * Published version; without it nothing runs.
 */
release?: {
/**
 * Name of the version.
 */
id: string
/**
 * Image of the server.
 */
image: string
/**
 * Secret to pull the image.
 */
secret?: string
/**
 * When it was published.
 */
time?: string
/**
 * Image of tarsnode.
 */
nodeImage?: string
/**
 * Secret to pull the image of tarsnode.
 */
nodeSecret?: string
}
}
/**
 * What there is of the server.
 */
status?: {
/**
 * Replicas as wanted.
 */
replicas?: number
/**
 * Ready pods.
 */
readyReplicas?: number
/**
 * Pods.
 */
currentReplicas?: number
/**
 * Label selector of the pods.
 */
selector?: string
/**
 * Generation that the status speaks of.
 */
observedGeneration?: number
/**
 * Released, WorkloadSynced, Ready.
 * 
 * Items: One condition.
 */
conditions?: {
/**
 * Name of the condition.
 */
type: string
/**
 * True, False or Unknown.
 */
status: string
/**
 * Why, in one word.
 */
reason?: string
/**
 * Why, for people.
 */
message?: string
/**
 * When the status changed.
 */
lastTransitionTime?: string
/**
 * Generation that it speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * A TARS server, or another program that belongs to a TARS framework.
 */
export interface TServerV1Beta3 {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What the server is and how it runs.
 */
spec: {
/**
 * Application.
 */
app: string
/**
 * Server.
 */
server: string
/**
 * Whether tarsnode runs it.
 */
subType: ("tars" | "normal")
/**
 * Weight that people see.
 */
important?: number
/**
 * What a server needs that tarsnode runs.
 */
tars?: {
/**
 * TTemplate of the configuration.
 */
template: string
/**
 * Private configuration, laid over the template.
 */
profile?: string
/**
 * Threads for asynchronous calls.
 */
asyncThread?: number
/**
 * Servants of the server, in the order of its ports.
 * 
 * Items: One servant.
 */
servants: {
/**
 * Name of the servant, unique without regard to case.
 */
name: string
/**
 * Port that the servant listens on.
 */
port: number
/**
 * Threads that serve requests.
 */
thread?: number
/**
 * Requests that may wait in the queue.
 */
capacity?: number
/**
 * Connections at most.
 */
connection?: number
/**
 * Speaks the TARS protocol.
 */
isTars?: boolean
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
/**
 * Time that a request may wait in the queue, ms.
 */
timeout?: number
}[]
/**
 * Further ports beside those of the servants.
 * 
 * Items: One port.
 */
ports?: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * Ports of a server that tarsnode does not run.
 */
normal?: {
/**
 * Ports that the server listens on.
 * 
 * Items: One port.
 */
ports: {
/**
 * Name of the port.
 */
name: string
/**
 * Port number.
 */
port: number
/**
 * TCP; otherwise UDP.
 */
isTcp?: boolean
}[]
}
/**
 * How the server runs in the cluster.
 */
k8s?: {
/**
 * Entry point of the main container.
 */
command?: string[]
/**
 * Arguments of the main container.
 */
args?: string[]
/**
 * Which nodes the server may run on, by their `tars.io/ability` labels.
 */
abilityAffinity?: ("AppRequired" | "ServerRequired" | "AppOrServerPreferred" | "None")
/**
 * One pod on each node instead of a number of replicas.
 */
daemonSet?: boolean
/**
 * Variables of the main container.
 * 
 * Items: One variable: a value, or where it comes from.
 */
env?: {
/**
 * Name of the variable.
 */
name: string
/**
 * The value.
 */
value?: string
/**
 * Where the value comes from: exactly one member.
 */
valueFrom?: {
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath?: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
/**
 * Key of a ConfigMap.
 */
configMapKeyRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Key of a Secret.
 */
secretKeyRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * The key.
 */
key: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
}
}[]
/**
 * Sources whose keys become variables of the main container.
 * 
 * Items: One source.
 */
envFrom?: {
/**
 * All keys of a ConfigMap.
 */
configMapRef?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * All keys of a Secret.
 */
secretRef?: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * Put before each name.
 */
prefix?: string
}[]
/**
 * Use the node's IPC namespace.
 */
hostIPC?: boolean
/**
 * Use the node's network.
 */
hostNetwork?: boolean
/**
 * Ports of the node that lead to ports of the server.
 * 
 * Items: One port.
 */
hostPorts?: {
/**
 * Name of a servant or port of the server.
 */
nameRef: string
/**
 * Port of the node.
 */
port: number
}[]
/**
 * Volumes of the main container.
 * 
 * Items: One volume.
 */
mounts?: {
/**
 * Name of the volume.
 */
name?: string
/**
 * Where the files come from: exactly one member.
 */
source?: {
/**
 * A ConfigMap as files.
 */
configMap?: {
/**
 * Name of the ConfigMap.
 */
name: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A Secret as files.
 */
secret?: {
/**
 * Name of the Secret.
 */
secretName: string
/**
 * Which keys become which files; all of them when absent.
 * 
 * Items: One file.
 */
items?: {
/**
 * Key in the source.
 */
key?: string
/**
 * Path of the file below the mount.
 */
path?: string
/**
 * Mode of the file, decimal.
 */
mode?: number
}[]
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * Whether it may be missing.
 */
optional?: boolean
}
/**
 * A folder that lives as long as the pod.
 */
emptyDir?: {
/**
 * Where it is kept.
 */
medium?: ("" | "Memory")
/**
 * Size at most.
 */
sizeLimit?: (number | string)
}
/**
 * A path of the node.
 */
hostPath?: {
/**
 * The path.
 */
path: string
/**
 * What must be there.
 */
type?: ("" | "Directory" | "DirectoryOrCreate" | "FileOrCreate" | "File" | "Socket" | "CharDevice" | "BlockDevice")
}
/**
 * A claim that exists.
 */
persistentVolumeClaim?: {
/**
 * Name of the claim.
 */
claimName: string
/**
 * Mount it read-only.
 */
readOnly?: boolean
}
/**
 * A claim of its own for each pod. Claims stay when the server is deleted.
 */
persistentVolumeClaimTemplate?: {
/**
 * Labels and annotations of the claims.
 */
metadata?: {
/**
 * Labels of the claims.
 */
labels?: {
[k: string]: string
}
/**
 * Annotations of the claims.
 */
annotations?: {
[k: string]: string
}
}
/**
 * The claims.
 */
spec: {
/**
 * How the volume may be mounted.
 * 
 * @minItems 1
 */
accessModes: ("ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany")[]
/**
 * Volume to bind to.
 */
volumeName?: string
/**
 * Storage class.
 */
storageClassName?: string
/**
 * Kind of volume.
 */
volumeMode?: ("Block" | "Filesystem")
/**
 * Size.
 */
resources: {
/**
 * Size at most.
 */
limits?: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
/**
 * Size at least.
 */
requests: {
/**
 * Size of the volume.
 */
storage: (number | string)
}
}
/**
 * Volumes that may be bound.
 */
selector?: {
/**
 * Labels that a volume must have.
 */
matchLabels?: {
[k: string]: string
}
/**
 * Requirements on the labels.
 * 
 * Items: One requirement.
 */
matchExpressions?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Label values.
 */
values?: string[]
}[]
}
}
}
/**
 * A folder of the node for each pod, made by the agent. Claims go with the server.
 */
tLocalVolume?: {
/**
 * Owner of the folder.
 */
uid?: string
/**
 * Group of the folder.
 */
gid?: string
/**
 * Mode of the folder, octal.
 */
mode?: string
}
/**
 * Facts about the pod as files.
 */
downwardAPI?: {
/**
 * Mode of the files, decimal.
 */
defaultMode?: number
/**
 * The files.
 * 
 * Items: One file.
 */
items?: {
/**
 * Path below the mount.
 */
path: string
/**
 * Mode, decimal.
 */
mode?: number
/**
 * Field of the pod.
 */
fieldRef?: {
/**
 * Version of the path.
 */
apiVersion?: string
/**
 * Path of the field.
 */
fieldPath: string
}
/**
 * Resource of a container.
 */
resourceFieldRef?: {
/**
 * Container.
 */
containerName?: string
/**
 * Resource.
 */
resource: string
/**
 * Unit.
 */
divisor?: (number | string)
}
}[]
}
}
/**
 * Mount it read-only.
 */
readOnly?: boolean
/**
 * Where it is mounted.
 */
mountPath?: string
/**
 * Part of the volume that is mounted.
 */
subPath?: string
/**
 * The same, with variables put in.
 */
subPathExpr?: string
/**
 * How mounts are passed on.
 */
mountPropagation?: ("None" | "HostToContainer" | "Bidirectional")
}[]
/**
 * Requirements on the nodes.
 * 
 * Items: One requirement.
 */
nodeSelector?: {
/**
 * Label key.
 */
key?: string
/**
 * How the values are compared.
 */
operator?: ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt")
/**
 * Label values.
 */
values?: string[]
}[]
/**
 * At most one pod of the server on a node.
 */
notStacked?: boolean
/**
 * Whether pods start one after the other; fixed at creation.
 */
podManagementPolicy?: ("OrderedReady" | "Parallel")
/**
 * Conditions that a pod needs to be ready.
 */
readinessGates?: string[]
/**
 * Number of pods; 0 until a version is released.
 */
replicas?: number
/**
 * Resources of the main container.
 */
resources?: {
/**
 * At least.
 */
requests?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
/**
 * At most.
 */
limits?: {
/**
 * A quantity.
 */
[k: string]: number | string
}
}
/**
 * Service account of the pods.
 */
serviceAccount?: string
/**
 * When the image is pulled.
 */
imagePullPolicy?: ("Always" | "Never" | "IfNotPresent")
/**
 * Whether the server or tarsnode is the first process of the container.
 */
launcherType?: ("foreground" | "background")
/**
 * How pods are replaced.
 */
updateStrategy?: {
/**
 * By the controller, or by whoever deletes them.
 */
type?: ("RollingUpdate" | "OnDelete")
/**
 * Settings of RollingUpdate.
 */
rollingUpdate?: {
/**
 * Pods below this ordinal keep their version.
 */
partition?: number
}
}
}
/**
 * Published version; without it nothing runs.
 */
release?: {
/**
 * Name of the version.
 */
id: string
/**
 * Image of the server.
 */
image: string
/**
 * Secret to pull the image.
 */
secret?: string
/**
 * When it was published.
 */
time?: string
/**
 * Image of tarsnode.
 */
nodeImage?: string
/**
 * Secret to pull the image of tarsnode.
 */
nodeSecret?: string
}
}
/**
 * What there is of the server.
 */
status?: {
/**
 * Replicas as wanted.
 */
replicas?: number
/**
 * Ready pods.
 */
readyReplicas?: number
/**
 * Pods.
 */
currentReplicas?: number
/**
 * Label selector of the pods.
 */
selector?: string
/**
 * Generation that the status speaks of.
 */
observedGeneration?: number
/**
 * Released, WorkloadSynced, Ready.
 * 
 * Items: One condition.
 */
conditions?: {
/**
 * Name of the condition.
 */
type: string
/**
 * True, False or Unknown.
 */
status: string
/**
 * Why, in one word.
 */
reason?: string
/**
 * Why, for people.
 */
message?: string
/**
 * When the status changed.
 */
lastTransitionTime?: string
/**
 * Generation that it speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * Template of configuration that servers share.
 */
export interface TTemplate {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * The template.
 */
spec: {
/**
 * Text.
 */
content: string
/**
 * Template that this one builds on; its own name for a root.
 */
parent: string
}
}

/**
 * Applications of a framework and the businesses that they belong to; one object `tars-tree` a namespace.
 */
export interface TTree {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * Businesses.
 * 
 * Items: One business.
 */
businesses: {
/**
 * Name.
 */
name: string
/**
 * Name for people.
 */
show: string
/**
 * Place in the list.
 */
weight: number
/**
 * When it was added.
 */
createTime?: string
/**
 * Who added it.
 */
createPerson?: string
/**
 * Note.
 */
mark?: string
}[]
/**
 * Applications.
 * 
 * Items: One application.
 */
apps: {
/**
 * Name.
 */
name: string
/**
 * Business that it belongs to; empty for none.
 */
businessRef: string
/**
 * When it was added.
 */
createTime?: string
/**
 * Who added it.
 */
createPerson?: string
/**
 * Note.
 */
mark?: string
}[]
}
