// Generated from crds/ by `npm run generate`: edit the CRD instead.
import type { ObjectMeta } from "@quartet/core";

/**
 * AccessApplication is an application that Access stands before.
 */
export interface AccessApplication {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Name in the account; default: that of the object.
 */
name?: string
/**
 * Where it is.
 */
domain: string
/**
 * Kind of application.
 */
type?: ("self_hosted" | "saas" | "ssh" | "vnc" | "app_launcher" | "warp" | "biso" | "bookmark" | "dash_sso" | "infrastructure")
/**
 * Further domains of it.
 * 
 * @maxItems 50
 * 
 * Items: One of them.
 */
selfHostedDomains?: string[]
/**
 * What it stands before, beside its domains.
 * 
 * @maxItems 50
 * 
 * Items: One destination.
 */
destinations?: {
/**
 * Whether it is public.
 */
type: ("public" | "private")
/**
 * Domain and path of a public one.
 */
uri?: string
/**
 * Host of a private one.
 */
hostname?: string
/**
 * Network of a private one.
 */
cidr?: string
/**
 * Ports, such as 80-90.
 */
portRange?: string
/**
 * Protocol.
 */
l4Protocol?: ("tcp" | "udp")
/**
 * Virtual network of a private one.
 */
vnetRef?: {
/**
 * VirtualNetwork in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}[]
/**
 * Whether the domain is public.
 */
domainType?: ("public" | "private")
/**
 * Address of a private one.
 */
privateAddress?: string
/**
 * Life of a session.
 */
sessionDuration?: string
/**
 * Identity providers by their identifiers; none means all.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
allowedIdps?: string[]
/**
 * Further identity providers.
 * 
 * @maxItems 100
 * 
 * Items: Identity provider, by cloudflareId or cloudflareName.
 */
identityProviderRefs?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}[]
/**
 * Whether the only identity provider is gone to at once.
 */
autoRedirectToIdentity?: boolean
/**
 * Whether cookies are bound to the browser.
 */
enableBindingCookie?: boolean
/**
 * Whether scripts cannot read the cookie.
 */
httpOnlyCookieAttribute?: boolean
/**
 * Whether the cookie holds for the path alone.
 */
pathCookieAttribute?: boolean
/**
 * Whether no page stands between.
 */
skipInterstitial?: boolean
/**
 * Whether preflight requests pass.
 */
optionsPreflightBypass?: boolean
/**
 * Whether service tokens that fail get 401.
 */
serviceAuth401Redirect?: boolean
/**
 * Whether WARP signs users in.
 */
allowAuthenticateViaWarp?: boolean
/**
 * Whether the launcher shows it.
 */
appLauncherVisible?: boolean
/**
 * SameSite of the cookie.
 */
sameSiteCookieAttribute?: ("strict" | "lax" | "none")
/**
 * Picture.
 */
logoUrl?: string
/**
 * Where users go who are denied.
 */
customDenyUrl?: string
/**
 * Where others go that are denied.
 */
customNonIdentityDenyUrl?: string
/**
 * What users are told who are denied.
 */
customDenyMessage?: string
/**
 * Tags of the account.
 * 
 * @maxItems 25
 * 
 * Items: One of them.
 */
tags?: string[]
/**
 * Pages of the account.
 * 
 * @maxItems 25
 * 
 * Items: One of them.
 */
customPages?: string[]
/**
 * Gateway rules by their identifiers.
 * 
 * @maxItems 25
 * 
 * Items: One of them.
 */
gatewayRules?: string[]
/**
 * CORS.
 */
corsHeaders?: {
/**
 * Methods.
 * 
 * @maxItems 10
 * 
 * Items: One of them.
 */
allowedMethods?: string[]
/**
 * Origins.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
allowedOrigins?: string[]
/**
 * Headers.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
allowedHeaders?: string[]
/**
 * All methods.
 */
allowAllMethods?: boolean
/**
 * All headers.
 */
allowAllHeaders?: boolean
/**
 * All origins.
 */
allowAllOrigins?: boolean
/**
 * Cookies as well.
 */
allowCredentials?: boolean
/**
 * How long an answer holds, in seconds.
 */
maxAge?: number
}
/**
 * The service that is signed in to; for type saas.
 */
saasApp?: {
/**
 * Protocol.
 */
authType: ("saml" | "oidc")
/**
 * Where SAML answers go.
 */
consumerServiceUrl?: string
/**
 * Identifier of the service.
 */
spEntityId?: string
/**
 * What a user is named by.
 */
nameIdFormat?: ("id" | "email")
/**
 * Where users go when nothing else is said.
 */
defaultRelayState?: string
/**
 * Attributes of SAML.
 * 
 * @maxItems 100
 * 
 * Items: One attribute.
 */
customAttributes?: {
/**
 * Name.
 */
name: string
/**
 * Format of the name.
 */
nameFormat?: string
/**
 * Name for people.
 */
friendlyName?: string
/**
 * Whether it must be there.
 */
required?: boolean
/**
 * Scope that it belongs to.
 */
scope?: string
/**
 * Where it comes from.
 */
source?: {
/**
 * Name at the identity provider.
 */
name?: string
/**
 * Names by identity provider.
 */
nameByIdp?: {
[k: string]: string
}
}
}[]
/**
 * Expression for the name.
 */
nameIdTransformJsonata?: string
/**
 * Expression for the attributes.
 */
samlAttributeTransformJsonata?: string
/**
 * Where OpenID Connect goes back to.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
redirectUris?: string[]
/**
 * Grants.
 * 
 * @maxItems 10
 * 
 * Items: One of them.
 */
grantTypes?: string[]
/**
 * Scopes.
 * 
 * @maxItems 20
 * 
 * Items: One of them.
 */
scopes?: string[]
/**
 * Where the launcher goes.
 */
appLauncherUrl?: string
/**
 * Groups that are passed on.
 */
groupFilterRegex?: string
/**
 * Claims.
 * 
 * @maxItems 100
 * 
 * Items: One attribute.
 */
customClaims?: {
/**
 * Name.
 */
name: string
/**
 * Format of the name.
 */
nameFormat?: string
/**
 * Name for people.
 */
friendlyName?: string
/**
 * Whether it must be there.
 */
required?: boolean
/**
 * Scope that it belongs to.
 */
scope?: string
/**
 * Where it comes from.
 */
source?: {
/**
 * Name at the identity provider.
 */
name?: string
/**
 * Names by identity provider.
 */
nameByIdp?: {
[k: string]: string
}
}
}[]
/**
 * Whether a client without secret may come.
 */
allowPkceWithoutClientSecret?: boolean
/**
 * Life of a token, such as 5m.
 */
accessTokenLifetime?: string
/**
 * Refresh tokens.
 */
refreshTokenOptions?: {
/**
 * Life of one, such as 30d.
 */
lifetime?: string
}
/**
 * Tokens from the authorization endpoint.
 */
hybridAndImplicitOptions?: {
/**
 * Access tokens.
 */
returnAccessTokenFromAuthorizationEndpoint?: boolean
/**
 * ID tokens.
 */
returnIdTokenFromAuthorizationEndpoint?: boolean
}
}
/**
 * Provisioning of users.
 */
scimConfig?: {
/**
 * Whether it is on.
 */
enabled?: boolean
/**
 * Where the service takes it.
 */
remoteUri?: string
/**
 * Identity provider whose users are provisioned.
 */
idpUid?: string
/**
 * Whether users are deactivated instead of deleted.
 */
deactivateOnDelete?: boolean
/**
 * How the service is signed in to.
 */
authentication?: {
/**
 * Scheme.
 */
scheme: ("httpbasic" | "oauthbearertoken" | "oauth2" | "access_service_token")
/**
 * User.
 */
user?: string
/**
 * Password.
 */
password?: string
/**
 * Token.
 */
token?: string
/**
 * Client.
 */
clientId?: string
/**
 * Its secret.
 */
clientSecret?: string
/**
 * Where it is authorized.
 */
authorizationUrl?: string
/**
 * Where tokens are got.
 */
tokenUrl?: string
/**
 * Scopes.
 * 
 * @maxItems 20
 * 
 * Items: One of them.
 */
scopes?: string[]
}
/**
 * What is passed on.
 * 
 * @maxItems 50
 * 
 * Items: One mapping.
 */
mappings?: {
/**
 * Schema.
 */
schema: string
/**
 * Whether it holds.
 */
enabled?: boolean
/**
 * Which users.
 */
filter?: string
/**
 * Expression.
 */
transformJsonata?: string
/**
 * What is done.
 */
operations?: {
/**
 * Whether users are created.
 */
create?: boolean
/**
 * Whether users are updated.
 */
update?: boolean
/**
 * Whether users are deleted.
 */
delete?: boolean
}
/**
 * How closely it is kept to.
 */
strictness?: ("strict" | "loose")
}[]
}
/**
 * Looks of the launcher.
 */
appLauncherCustomization?: {
/**
 * Page of it.
 */
landingPageDesign?: {
/**
 * Title.
 */
title?: string
/**
 * Text.
 */
message?: string
/**
 * Picture.
 */
imageUrl?: string
/**
 * Colour.
 */
buttonColor?: string
/**
 * Colour.
 */
buttonTextColor?: string
}
/**
 * Picture.
 */
appLauncherLogoUrl?: string
/**
 * Colour.
 */
headerBackgroundColor?: string
/**
 * Colour.
 */
backgroundColor?: string
/**
 * Links.
 * 
 * @maxItems 20
 * 
 * Items: One link.
 */
footerLinks?: {
/**
 * Text.
 */
name: string
/**
 * Where it goes.
 */
url: string
}[]
/**
 * Whether no page of its own asks to sign in.
 */
skipAppLauncherLoginPage?: boolean
}
/**
 * Machines; for type infrastructure.
 * 
 * @maxItems 50
 * 
 * Items: Some of them.
 */
targetContexts?: {
/**
 * Attributes that a machine has.
 */
targetAttributes: {
[k: string]: string[]
}
/**
 * Port.
 */
port: number
/**
 * Protocol.
 */
protocol: ("SSH" | "RDP")
}[]
/**
 * Policies of this application alone.
 * 
 * @maxItems 50
 * 
 * Items: One policy: a group, or rules.
 */
policies?: {
/**
 * AccessGroup in the cluster.
 */
name?: string
/**
 * Group by its identifier in the account.
 */
groupId?: string
/**
 * Group by its name in the account.
 */
cloudflareGroupName?: string
/**
 * Whom the policy is for: whom at least one rule fits.
 * 
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
include?: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * Whom it is not for, whatever else fits.
 * 
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
exclude?: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * What must fit as well, each of it.
 * 
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
require?: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * What it decides.
 */
decision?: ("allow" | "deny" | "bypass" | "non_identity")
/**
 * Place among the policies; default: that in the list.
 */
precedence?: number
/**
 * Name in the account.
 */
policyName?: string
/**
 * Life of a session, such as 24h.
 */
sessionDuration?: string
}[]
/**
 * Policies of the account.
 * 
 * @maxItems 50
 * 
 * Items: One policy.
 */
reusablePolicyRefs?: {
/**
 * Not served: there is no kind for policies.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
/**
 * Place among the policies; default: that in the list.
 */
precedence?: number
}[]
/**
 * Groups that a policy of this application alone lets in.
 * 
 * @maxItems 50
 * 
 * Items: One group.
 */
reusableGroupRefs?: {
/**
 * AccessGroup in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}[]
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier in the account.
 */
applicationId?: string
/**
 * Audience of its tokens.
 */
aud?: string
/**
 * Where it is.
 */
domain?: string
/**
 * Domains of it.
 * 
 * Items: One of them.
 */
selfHostedDomains?: string[]
/**
 * Client of an application of type saas.
 */
saasAppClientId?: string
/**
 * Policies of this application alone.
 * 
 * Items: One policy.
 */
resolvedPolicies?: {
/**
 * Identifier in the account.
 */
id?: string
/**
 * Name in the account.
 */
name?: string
/**
 * What it decides.
 */
decision?: string
/**
 * Place among the policies.
 */
precedence?: number
}[]
/**
 * Policies of the account.
 * 
 * Items: One policy.
 */
resolvedReusablePolicies?: {
/**
 * Identifier in the account.
 */
id?: string
/**
 * Place among the policies.
 */
precedence?: number
}[]
/**
 * Identifiers of all policies, in their order.
 * 
 * Items: One of them.
 */
resolvedPolicyIds?: string[]
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * AccessGroup is a group of people and machines that Access policies name.
 */
export interface AccessGroup {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Name in the account; default: that of the object.
 */
name?: string
/**
 * Who belongs to it: whom at least one rule fits.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
include: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * Who does not, whatever else fits.
 * 
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
exclude?: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * What must fit as well, each of it.
 * 
 * @maxItems 1000
 * 
 * Items: One rule; it has exactly one key.
 */
require?: {
/**
 * One address.
 */
email?: {
/**
 * Address.
 */
email: string
}
/**
 * Addresses of a domain.
 */
emailDomain?: {
/**
 * Domain.
 */
domain: string
}
/**
 * A list of addresses.
 */
emailList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Everybody.
 */
everyone?: boolean
/**
 * Networks.
 */
ipRanges?: {
/**
 * Networks in CIDR notation.
 * 
 * @minItems 1
 * @maxItems 1000
 * 
 * Items: One of them.
 */
ip: string[]
}
/**
 * A list of addresses.
 */
ipList?: {
/**
 * Identifier of the list.
 */
id: string
}
/**
 * Countries.
 */
country?: {
/**
 * Codes by ISO 3166-1 alpha-2.
 * 
 * @minItems 1
 * @maxItems 300
 * 
 * Items: One of them.
 */
country: string[]
}
/**
 * An Access group of the account.
 */
group?: {
/**
 * Identifier of the group.
 */
id: string
}
/**
 * A service token.
 */
serviceToken?: {
/**
 * Identifier of the token.
 */
tokenId: string
}
/**
 * Any valid service token.
 */
anyValidServiceToken?: boolean
/**
 * Any valid client certificate.
 */
certificate?: boolean
/**
 * A client certificate by its common name.
 */
commonName?: {
/**
 * Common name.
 */
commonName: string
}
/**
 * A device posture check.
 */
devicePosture?: {
/**
 * Identifier of the integration.
 */
integrationUid: string
}
/**
 * A Google Workspace group.
 */
gsuite?: {
/**
 * Address of the group.
 */
email: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A GitHub organisation.
 */
github?: {
/**
 * Organisation.
 */
name: string
/**
 * Teams; none means all members.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
teams?: string[]
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A Microsoft Entra group.
 */
azure?: {
/**
 * Identifier of the group.
 */
id: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An Okta group.
 */
okta?: {
/**
 * Name of the group.
 */
name: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A claim of OpenID Connect.
 */
oidc?: {
/**
 * Claim.
 */
claimName: string
/**
 * Its value.
 */
claimValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An attribute of SAML.
 */
saml?: {
/**
 * Attribute.
 */
attributeName: string
/**
 * Its value.
 */
attributeValue: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * An authentication method.
 */
authMethod?: {
/**
 * Method by RFC 8176.
 */
authMethod: string
}
/**
 * A Microsoft Entra authentication context.
 */
authContext?: {
/**
 * Identifier of the context.
 */
id: string
/**
 * Its ACID.
 */
acId: string
/**
 * Identity provider, by cloudflareId or cloudflareName.
 */
idpRef?: {
/**
 * Not served: there is no kind for identity providers in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
}
/**
 * A login method.
 */
loginMethod?: {
/**
 * Identifier of the identity provider.
 */
id: string
}
/**
 * A service that decides.
 */
externalEvaluation?: {
/**
 * Where it is asked.
 */
evaluateUrl: string
/**
 * Where its keys are.
 */
keysUrl: string
}
}[]
/**
 * Whether it is put into every new policy.
 */
isDefault?: boolean
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier in the account.
 */
groupId?: string
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * CloudflareCredentials are an account and the credentials for it.
 */
export interface CloudflareCredentials {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Account.
 */
accountId: string
/**
 * Name of the account, for people.
 */
accountName?: string
/**
 * Zone for objects that name none.
 */
defaultDomain?: string
/**
 * Kind of credentials.
 */
authType?: ("apiToken" | "globalAPIKey")
/**
 * Secret that holds them.
 */
secretRef: {
/**
 * Name of the Secret.
 */
name: string
/**
 * Namespace of the Secret; default: that of the operator.
 */
namespace?: string
/**
 * Key of the API token.
 */
apiTokenKey?: string
/**
 * Key of the global API key.
 */
apiKeyKey?: string
/**
 * Key of the address.
 */
emailKey?: string
}
/**
 * Used by objects that name no credentials.
 */
isDefault?: boolean
}
/**
 * What was reached.
 */
status?: {
/**
 * Whether they work.
 */
state?: ("Ready" | "Error")
/**
 * Whether Cloudflare took them.
 */
validated?: boolean
/**
 * When Cloudflare last took them.
 */
lastValidatedTime?: string
/**
 * Name of the account.
 */
accountName?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * CloudflareDomain is a zone.
 */
export interface CloudflareDomain {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Zone, such as example.com.
 */
domain: string
/**
 * Credentials for the zone.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Used by objects that name no zone.
 */
isDefault?: boolean
/**
 * Identifier of the zone; skips the look-up.
 */
zoneId?: string
/**
 * Taken and left alone.
 */
ssl?: {
[k: string]: unknown
}
/**
 * Taken and left alone.
 */
cache?: {
[k: string]: unknown
}
/**
 * Taken and left alone.
 */
security?: {
[k: string]: unknown
}
/**
 * Taken and left alone.
 */
performance?: {
[k: string]: unknown
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Whether the zone was found.
 */
state?: ("Pending" | "Verifying" | "Ready" | "Error")
/**
 * Identifier of the zone.
 */
zoneId?: string
/**
 * Name of the zone.
 */
zoneName?: string
/**
 * Account of the zone.
 */
accountId?: string
/**
 * Name servers of the zone.
 */
nameServers?: string[]
/**
 * Status of the zone.
 */
zoneStatus?: string
/**
 * When it was last looked up.
 */
lastVerifiedTime?: string
/**
 * What is wrong.
 */
message?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * ClusterTunnel is one Cloudflare Tunnel and the cloudflared that serves it.
 */
export interface ClusterTunnel {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Tunnel that is created. Neither this nor existingTunnel means one that is named after the object.
 */
newTunnel?: {
/**
 * Name in the account.
 */
name?: string
}
/**
 * Tunnel that is there already; it is never deleted.
 */
existingTunnel?: {
/**
 * Identifier; comes first.
 */
id?: string
/**
 * Name in the account.
 */
name?: string
}
/**
 * Serves private networks to WARP clients.
 */
enableWarpRouting?: boolean
/**
 * Service for requests that no rule fits.
 */
fallbackTarget?: string
/**
 * How cloudflared talks to the origin.
 */
originRequest?: {
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin; needs https.
 */
http2Origin?: boolean
/**
 * Limit for connecting, a Go duration such as 30s.
 */
connectTimeout?: string
/**
 * Limit for the TLS handshake, a Go duration such as 30s.
 */
tlsTimeout?: string
/**
 * Time after which an idle connection is closed, a Go duration such as 30s.
 */
keepAliveTimeout?: string
/**
 * Interval of TCP keep-alive probes, a Go duration such as 30s.
 */
tcpKeepAlive?: string
/**
 * Idle connections that are kept.
 */
keepAliveConnections?: number
/**
 * Does not fall back between IPv4 and IPv6.
 */
noHappyEyeballs?: boolean
/**
 * Uses the Host of the request as server name.
 */
matchSNItoHost?: boolean
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Name that the certificate of the origin must have.
 */
originServerName?: string
/**
 * Host header for the origin.
 */
httpHostHeader?: string
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
/**
 * Sends no chunked bodies.
 */
disableChunkedEncoding?: boolean
/**
 * Runs as a jump host.
 */
bastionMode?: boolean
/**
 * Addresses that a SOCKS proxy may reach.
 * 
 * Items: One range of addresses.
 */
ipRules?: {
/**
 * Range in CIDR notation.
 */
prefix?: string
/**
 * Ports; none means all.
 */
ports?: number[]
/**
 * Whether the range may be reached.
 */
allow?: boolean
}[]
/**
 * Checks tokens of Cloudflare Access.
 */
access?: {
/**
 * Refuses requests without a token.
 */
required?: boolean
/**
 * Team whose tokens count.
 */
teamName?: string
/**
 * Audiences that count.
 */
audTag?: string[]
}
}
/**
 * Takes any certificate of every origin.
 */
noTlsVerify?: boolean
/**
 * Secret with certificates of origins, mounted at /etc/cloudflared/certs.
 */
originCaPool?: string
/**
 * Protocol towards Cloudflare.
 */
protocol?: ("auto" | "quic" | "http2")
/**
 * Strategic merge patch of the Deployment, as JSON or YAML.
 */
deployPatch?: string
/**
 * Which hosts the objects of a namespace may claim on this tunnel. Without it every namespace may claim every host. Of all patterns that cover a host the most specific one decides, and whoever an entry with it means may claim the host; what nothing covers nobody may claim. A wildcard host stands for every name below it.
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: Namespaces, and the hosts that they may claim.
 */
hostPolicy?: ({
[k: string]: unknown
} & {
/**
 * Names of namespaces.
 * 
 * @maxItems 100
 */
namespaces?: string[]
/**
 * Labels of further namespaces; an empty selector means all.
 */
namespaceSelector?: {
/**
 * Labels with their values.
 */
matchLabels?: {
[k: string]: string
}
/**
 * Expressions that all must hold.
 * 
 * @maxItems 20
 * 
 * Items: A label and what holds of it.
 */
matchExpressions?: {
/**
 * Name of the label.
 */
key: string
/**
 * What holds.
 */
operator: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Values for In and NotIn.
 * 
 * @maxItems 100
 */
values?: string[]
}[]
}
/**
 * Names, such as app.example.com; *.example.com for every name below example.com, without example.com itself; * for all, rules without a host and fallbacks among them.
 * 
 * @minItems 1
 * @maxItems 100
 */
hostnames: string[]
})[]
/**
 * What becomes of the tunnel in the account when this object is deleted.
 */
deletionPolicy?: ("Delete" | "Orphan")
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Account of the tunnel.
 */
accountId?: string
/**
 * Whether it was there before the object; then it keeps its name and stays, unless the annotation adopt says that it is the object's own.
 */
adopted?: boolean
/**
 * Zone of the domain.
 */
zoneId?: string
/**
 * Stage of its life.
 */
state?: ("pending" | "creating" | "active" | "error" | "deleting")
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Hosts in the configuration that was last sent.
 */
syncedHostnames?: string[]
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * ClusterTunnel is one Cloudflare Tunnel and the cloudflared that serves it.
 */
export interface ClusterTunnelV1Alpha1 {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Pods of cloudflared; becomes a part of deployPatch.
 */
size?: number
/**
 * Image of cloudflared; becomes a part of deployPatch.
 */
image?: string
/**
 * Labels that the nodes of the pods must have; becomes a part of deployPatch.
 */
nodeSelectors?: {
[k: string]: string
}
/**
 * Tolerations of the pods; becomes a part of deployPatch.
 */
tolerations?: {
/**
 * Key of the taint.
 */
key?: string
/**
 * How key and value relate to the taint.
 */
operator?: string
/**
 * Value of the taint.
 */
value?: string
/**
 * Effect of the taint.
 */
effect?: string
/**
 * Time for which the taint is tolerated.
 */
tolerationSeconds?: number
}[]
/**
 * Tunnel that is created. Neither this nor existingTunnel means one that is named after the object.
 */
newTunnel?: {
/**
 * Name in the account.
 */
name?: string
}
/**
 * Tunnel that is there already; it is never deleted.
 */
existingTunnel?: {
/**
 * Identifier; comes first.
 */
id?: string
/**
 * Name in the account.
 */
name?: string
}
/**
 * Service for requests that no rule fits.
 */
fallbackTarget?: string
/**
 * Takes any certificate of every origin.
 */
noTlsVerify?: boolean
/**
 * Secret with certificates of origins, mounted at /etc/cloudflared/certs.
 */
originCaPool?: string
/**
 * Protocol towards Cloudflare.
 */
protocol?: ("auto" | "quic" | "http2")
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Account of the tunnel.
 */
accountId?: string
/**
 * Whether it was there before the object; then it keeps its name and stays, unless the annotation adopt says that it is the object's own.
 */
adopted?: boolean
/**
 * Zone of the domain.
 */
zoneId?: string
/**
 * Stage of its life.
 */
state?: ("pending" | "creating" | "active" | "error" | "deleting")
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Hosts in the configuration that was last sent.
 */
syncedHostnames?: string[]
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * DNSRecord is one DNS record of a zone.
 */
export interface DNSRecord {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Name, whole or below the zone.
 */
name: string
/**
 * Type of the record.
 */
type?: ("A" | "AAAA" | "CNAME" | "TXT" | "MX" | "NS" | "SRV" | "CAA" | "CERT" | "DNSKEY" | "DS" | "HTTPS" | "LOC" | "NAPTR" | "SMIMEA" | "SSHFP" | "SVCB" | "TLSA" | "URI")
/**
 * Content; either this or sourceRef.
 */
content?: string
/**
 * Object whose address is the content.
 */
sourceRef?: {
/**
 * A Service.
 */
service?: {
/**
 * Name of the object.
 */
name: string
/**
 * Namespace of the object; default: that of the record.
 */
namespace?: string
/**
 * Address to take.
 */
addressType?: ("LoadBalancerIP" | "LoadBalancerHostname" | "ExternalIP" | "ExternalName" | "ClusterIP")
}
/**
 * An Ingress.
 */
ingress?: {
/**
 * Name of the object.
 */
name: string
/**
 * Namespace of the object; default: that of the record.
 */
namespace?: string
}
/**
 * An HTTPRoute.
 */
httpRoute?: {
/**
 * Name of the object.
 */
name: string
/**
 * Namespace of the object; default: that of the record.
 */
namespace?: string
}
/**
 * A Gateway.
 */
gateway?: {
/**
 * Name of the object.
 */
name: string
/**
 * Namespace of the object; default: that of the record.
 */
namespace?: string
}
/**
 * A Node.
 */
node?: {
/**
 * Name of the Node.
 */
name: string
/**
 * Address to take.
 */
addressType?: ("ExternalIP" | "InternalIP" | "Hostname")
}
}
/**
 * Which of several addresses.
 */
addressSelection?: ("First" | "All" | "PreferIPv4" | "PreferIPv6")
/**
 * What becomes of the record when its source is gone.
 */
sourceDeletionPolicy?: ("Delete" | "Orphan")
/**
 * Time to live in seconds; 1 = automatic, else 60 to 86400.
 */
ttl?: number
/**
 * Goes through Cloudflare.
 */
proxied?: boolean
/**
 * Priority of MX, SRV and URI.
 */
priority?: number
/**
 * Comment.
 */
comment?: string
/**
 * Tags, on paid plans.
 */
tags?: string[]
/**
 * Parts of the content.
 */
data?: {
/**
 * Weight of SRV.
 */
weight?: number
/**
 * Port of SRV.
 */
port?: number
/**
 * Flags of CAA.
 */
flags?: number
/**
 * Algorithm.
 */
algorithm?: number
/**
 * Key tag of CERT.
 */
keyTag?: number
/**
 * Usage of TLSA.
 */
usage?: number
/**
 * Selector of TLSA.
 */
selector?: number
/**
 * Matching type of TLSA.
 */
matchingType?: number
/**
 * Latitude.
 */
latDegrees?: number
/**
 * Latitude.
 */
latMinutes?: number
/**
 * Longitude.
 */
longDegrees?: number
/**
 * Longitude.
 */
longMinutes?: number
/**
 * Service of SRV.
 */
service?: string
/**
 * Protocol of SRV.
 */
proto?: string
/**
 * Target of SRV.
 */
target?: string
/**
 * Tag of CAA.
 */
tag?: string
/**
 * Value of CAA.
 */
value?: string
/**
 * Certificate.
 */
certificate?: string
/**
 * Latitude.
 */
latSeconds?: string
/**
 * N or S.
 */
latDirection?: string
/**
 * Longitude.
 */
longSeconds?: string
/**
 * E or W.
 */
longDirection?: string
/**
 * Altitude in metres.
 */
altitude?: string
/**
 * Size in metres.
 */
size?: string
/**
 * Precision in metres.
 */
precisionHorz?: string
/**
 * Precision in metres.
 */
precisionVert?: string
/**
 * Target of URI.
 */
content?: string
}
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the record.
 */
recordId?: string
/**
 * Zone of the record.
 */
zoneId?: string
/**
 * Whole name.
 */
fqdn?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Type by the source.
 */
resolvedType?: string
/**
 * Content by the source.
 */
resolvedContent?: string
/**
 * Addresses of the source.
 */
resolvedAddresses?: string[]
/**
 * Version of the source.
 */
sourceResourceVersion?: string
/**
 * Identifiers of all records.
 */
managedRecordIds?: string[]
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * GatewayRule is a rule of the secure web gateway.
 */
export interface GatewayRule {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Name in the account; default: that of the object.
 */
name?: string
/**
 * Text beside the marker of the owner.
 */
description?: string
/**
 * Place among the rules of the account; lower is earlier.
 */
precedence: number
/**
 * Whether it holds.
 */
enabled?: boolean
/**
 * What happens to what matches.
 */
action: ("on" | "off" | "allow" | "block" | "scan" | "noscan" | "safesearch" | "ytrestricted" | "isolate" | "noisolate" | "override" | "l4_override" | "egress" | "resolve" | "quarantine")
/**
 * Kind of traffic.
 * 
 * @maxItems 5
 * 
 * Items: One kind.
 */
filters?: ("http" | "dns" | "l4" | "egress" | "dns_resolver")[]
/**
 * Expression on the traffic.
 */
traffic?: string
/**
 * Expression on who it is.
 */
identity?: string
/**
 * Expression on the device.
 */
devicePosture?: string
/**
 * When it holds.
 */
schedule?: {
/**
 * Time zone, such as Europe/Berlin; default: that of the user.
 */
timeZone?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
mon?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
tue?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
wed?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
thu?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
fri?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
sat?: string
/**
 * Times of the day, such as 08:00-12:30,13:30-17:00.
 */
sun?: string
}
/**
 * When it ends.
 */
expiration?: {
/**
 * Time, RFC 3339.
 */
expiresAt?: string
/**
 * Minutes for which it is renewed.
 */
duration?: number
}
/**
 * What the action does beside itself.
 */
ruleSettings?: {
/**
 * Whether a page tells of the block.
 */
blockPageEnabled?: boolean
/**
 * What the page says.
 */
blockReason?: string
/**
 * Addresses to answer with.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
overrideIps?: string[]
/**
 * Host to answer with.
 */
overrideHost?: string
/**
 * Where the connection goes.
 */
l4Override?: {
/**
 * Address.
 */
ip?: string
/**
 * Port.
 */
port?: number
}
/**
 * What an isolated browser may do.
 */
bisoAdminControls?: {
/**
 * No printing.
 */
disablePrinting?: boolean
/**
 * No copying.
 */
disableCopyPaste?: boolean
/**
 * No downloads.
 */
disableDownload?: boolean
/**
 * No uploads.
 */
disableUpload?: boolean
/**
 * No keyboard.
 */
disableKeyboard?: boolean
/**
 * No clipboard.
 */
disableClipboardRedirection?: boolean
}
/**
 * How old a session may be.
 */
checkSession?: {
/**
 * Whether it is checked.
 */
enforce?: boolean
/**
 * Age, such as 24h.
 */
duration?: string
}
/**
 * Headers to add.
 */
addHeaders?: {
[k: string]: string
}
/**
 * No DNSSEC validation.
 */
insecureDisableDnssecValidation?: boolean
/**
 * Addresses to leave from.
 */
egress?: {
/**
 * Address.
 */
ipv4?: string
/**
 * Network.
 */
ipv6?: string
/**
 * Address when the first is missing.
 */
ipv4Fallback?: string
}
/**
 * Log of what matched.
 */
payloadLog?: {
/**
 * Whether it is kept.
 */
enabled?: boolean
}
/**
 * What becomes of a certificate that is not trusted.
 */
untrustedCertificateAction?: ("pass_through" | "block" | "error")
/**
 * Log of SSH.
 */
auditSsh?: {
/**
 * Whether commands are kept.
 */
commandLogging?: boolean
}
/**
 * Resolution by an internal view.
 */
resolveDnsInternally?: {
/**
 * The view.
 */
viewId?: string
/**
 * Whether public DNS is asked when the view knows nothing.
 */
fallback?: boolean
}
/**
 * Resolution by 1.1.1.1.
 */
resolveDnsThroughCloudflare?: boolean
/**
 * Resolvers of the rule.
 */
dnsResolvers?: {
/**
 * Those for IPv4.
 * 
 * @maxItems 10
 * 
 * Items: One resolver.
 */
ipv4?: {
/**
 * Address.
 */
ip: string
/**
 * Port.
 */
port?: number
/**
 * Whether it is in a private network.
 */
routeThroughPrivateNetwork?: boolean
/**
 * Virtual network of it.
 */
vnetId?: string
}[]
/**
 * Those for IPv6.
 * 
 * @maxItems 10
 * 
 * Items: One resolver.
 */
ipv6?: {
/**
 * Address.
 */
ip: string
/**
 * Port.
 */
port?: number
/**
 * Whether it is in a private network.
 */
routeThroughPrivateNetwork?: boolean
/**
 * Virtual network of it.
 */
vnetId?: string
}[]
}
/**
 * What the client shows.
 */
notificationSettings?: {
/**
 * Whether it does.
 */
enabled?: boolean
/**
 * Text.
 */
message?: string
/**
 * Where help is.
 */
supportUrl?: string
}
/**
 * Child accounts may bypass the rule.
 */
allowChildBypass?: boolean
/**
 * Bypasses the rule of the parent account.
 */
bypassParentRule?: boolean
/**
 * Categories of CNAME targets do not count.
 */
ignoreCnameCategoryMatches?: boolean
/**
 * Categories of addresses count.
 */
ipCategories?: boolean
/**
 * Indicator feeds of addresses count.
 */
ipIndicatorFeeds?: boolean
/**
 * Files that are opened in a sandbox.
 */
quarantine?: {
/**
 * Types of files.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
fileTypes?: string[]
}
}
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier in the account.
 */
ruleId?: string
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * NetworkRoute sends traffic for a private network through a tunnel.
 */
export interface NetworkRoute {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Network in CIDR notation, IPv4 or IPv6.
 */
network: string
/**
 * Tunnel that the network is behind.
 */
tunnelRef: {
/**
 * Kind of the tunnel.
 */
kind?: ("Tunnel" | "ClusterTunnel")
/**
 * Name of the tunnel object.
 */
name: string
/**
 * Namespace of a Tunnel; default: default.
 */
namespace?: string
}
/**
 * Virtual network; default: that of the account.
 */
virtualNetworkRef?: {
/**
 * VirtualNetwork in the cluster.
 */
name?: string
/**
 * Identifier in the account.
 */
cloudflareId?: string
/**
 * Name in the account.
 */
cloudflareName?: string
}
/**
 * Text beside the marker of the owner.
 */
comment?: string
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier in the account.
 */
routeId?: string
/**
 * Network of the route.
 */
network?: string
/**
 * Tunnel of the route.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Virtual network of the route.
 */
virtualNetworkId?: string
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * R2Bucket is a bucket of R2.
 */
export interface R2Bucket {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Name of the bucket; default: that of the object. It cannot be changed.
 */
name?: string
/**
 * Where it should be; without effect once it is there.
 */
locationHint?: ("apac" | "eeur" | "enam" | "weur" | "wnam" | "oc")
/**
 * Rules for requests of other origins; none takes those away that were set here.
 * 
 * @maxItems 100
 * 
 * Items: One rule.
 */
cors?: {
/**
 * Name of the rule.
 */
id?: string
/**
 * Origins.
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: One of them.
 */
allowedOrigins: string[]
/**
 * HTTP methods.
 * 
 * @minItems 1
 * @maxItems 10
 * 
 * Items: One of them.
 */
allowedMethods: string[]
/**
 * Headers of requests.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
allowedHeaders?: string[]
/**
 * Headers of answers.
 * 
 * @maxItems 100
 * 
 * Items: One of them.
 */
exposeHeaders?: string[]
/**
 * How long browsers may keep the answer, in seconds.
 */
maxAgeSeconds?: number
}[]
/**
 * Rules by which objects go; none takes those away that were set here.
 * 
 * @maxItems 1000
 * 
 * Items: One rule.
 */
lifecycle?: {
/**
 * Name of the rule; default: its place.
 */
id?: string
/**
 * Whether it holds.
 */
enabled?: boolean
/**
 * Objects whose names begin so; default: all.
 */
prefix?: string
/**
 * When objects go; either of both.
 */
expiration?: {
/**
 * Age in days.
 */
days?: number
/**
 * Day, as 2026-12-31 or RFC 3339.
 */
date?: string
}
/**
 * When uploads that were not ended go.
 */
abortIncompleteMultipartUpload?: {
/**
 * Age in days.
 */
daysAfterInitiation: number
}
}[]
/**
 * CloudflareCredentials to use; wins over cloudflare.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * What becomes of the bucket with the object.
 */
deletionPolicy?: ("Delete" | "Orphan")
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Name of the bucket.
 */
bucketName?: string
/**
 * Where it is.
 */
location?: string
/**
 * When it was created.
 */
createdAt?: string
/**
 * Rules for other origins.
 */
corsRulesCount?: number
/**
 * Rules by which objects go.
 */
lifecycleRulesCount?: number
/**
 * Whether it was there before the object; then it stays unless the annotation deletion-policy says Delete.
 */
adopted?: boolean
/**
 * What is wrong.
 */
message?: string
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * TunnelBinding serves Services through a tunnel.
 */
export interface TunnelBinding {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is served.
 * 
 * Items: One Service.
 */
subjects?: {
/**
 * Kind of the subject.
 */
kind?: string
/**
 * Name of the Service.
 */
name: string
/**
 * How it is served.
 */
spec?: {
/**
 * Hostname; default: the name of the subject below the domain.
 */
fqdn?: string
/**
 * Protocol of the origin; default: by its port.
 */
protocol?: string
/**
 * RE2 expression that is searched in the path.
 */
path?: string
/**
 * Service as cloudflared takes it; default: the address of the Service.
 */
target?: string
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin.
 */
http2Origin?: boolean
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
}
}[]
/**
 * Tunnel that serves the subjects.
 */
tunnelRef?: {
/**
 * Kind of the tunnel.
 */
kind: ("ClusterTunnel" | "Tunnel")
/**
 * Name of the tunnel; a Tunnel stands in the namespace of the binding.
 */
name: string
/**
 * Leaves DNS alone.
 */
disableDNSUpdates?: boolean
}
/**
 * The same fields once more, for those who write them here; fields of the object itself come first.
 */
spec?: {
/**
 * What is served.
 * 
 * Items: One Service.
 */
subjects?: {
/**
 * Kind of the subject.
 */
kind?: string
/**
 * Name of the Service.
 */
name: string
/**
 * How it is served.
 */
spec?: {
/**
 * Hostname; default: the name of the subject below the domain.
 */
fqdn?: string
/**
 * Protocol of the origin; default: by its port.
 */
protocol?: string
/**
 * RE2 expression that is searched in the path.
 */
path?: string
/**
 * Service as cloudflared takes it; default: the address of the Service.
 */
target?: string
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin.
 */
http2Origin?: boolean
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
}
}[]
/**
 * Tunnel that serves the subjects.
 */
tunnelRef?: {
/**
 * Kind of the tunnel.
 */
kind: ("ClusterTunnel" | "Tunnel")
/**
 * Name of the tunnel; a Tunnel stands in the namespace of the binding.
 */
name: string
/**
 * Leaves DNS alone.
 */
disableDNSUpdates?: boolean
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Hosts, separated by commas.
 */
hostnames?: string
/**
 * Host and target of every subject.
 * 
 * Items: One subject.
 */
services?: {
/**
 * Host.
 */
hostname?: string
/**
 * Service.
 */
target?: string
}[]
/**
 * Hosts that are served.
 */
syncedHostnames?: string[]
/**
 * Version of the configuration that serves them.
 */
configVersion?: number
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * TunnelGatewayClassConfig are the parameters of a GatewayClass.
 */
export interface TunnelGatewayClassConfig {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Tunnel that serves the class.
 */
tunnelRef: {
/**
 * Kind of the tunnel.
 */
kind?: ("Tunnel" | "ClusterTunnel")
/**
 * Name of the tunnel.
 */
name: string
/**
 * Namespace of a Tunnel; default: that of this object.
 */
namespace?: string
}
/**
 * Who makes DNS records.
 */
dnsManagement?: ("Automatic" | "Manual" | "DNSRecord")
/**
 * Records go through Cloudflare.
 */
dnsProxied?: boolean
/**
 * Namespaces of the class; none means all.
 */
watchNamespaces?: string[]
/**
 * How cloudflared talks to the origin.
 */
defaultOriginRequest?: {
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin; needs https.
 */
http2Origin?: boolean
/**
 * Limit for connecting, a Go duration such as 30s.
 */
connectTimeout?: string
/**
 * Limit for the TLS handshake, a Go duration such as 30s.
 */
tlsTimeout?: string
/**
 * Time after which an idle connection is closed, a Go duration such as 30s.
 */
keepAliveTimeout?: string
/**
 * Interval of TCP keep-alive probes, a Go duration such as 30s.
 */
tcpKeepAlive?: string
/**
 * Idle connections that are kept.
 */
keepAliveConnections?: number
/**
 * Does not fall back between IPv4 and IPv6.
 */
noHappyEyeballs?: boolean
/**
 * Uses the Host of the request as server name.
 */
matchSNItoHost?: boolean
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Name that the certificate of the origin must have.
 */
originServerName?: string
/**
 * Host header for the origin.
 */
httpHostHeader?: string
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
/**
 * Sends no chunked bodies.
 */
disableChunkedEncoding?: boolean
/**
 * Runs as a jump host.
 */
bastionMode?: boolean
/**
 * Addresses that a SOCKS proxy may reach.
 * 
 * Items: One range of addresses.
 */
ipRules?: {
/**
 * Range in CIDR notation.
 */
prefix?: string
/**
 * Ports; none means all.
 */
ports?: number[]
/**
 * Whether the range may be reached.
 */
allow?: boolean
}[]
/**
 * Checks tokens of Cloudflare Access.
 */
access?: {
/**
 * Refuses requests without a token.
 */
required?: boolean
/**
 * Team whose tokens count.
 */
teamName?: string
/**
 * Audiences that count.
 */
audTag?: string[]
}
}
/**
 * Service of what no rule fits, unless the tunnel names one.
 */
fallbackTarget?: string
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Whether it works.
 */
state?: ("pending" | "active" | "error")
/**
 * Hosts that are served.
 */
syncedHostnames?: string[]
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Gateways of the class.
 */
gatewayCount?: number
/**
 * Routes that are attached to them.
 */
routeCount?: number
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * TunnelIngressClassConfig are the parameters of an IngressClass.
 */
export interface TunnelIngressClassConfig {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec: {
/**
 * Tunnel that serves the class.
 */
tunnelRef: {
/**
 * Kind of the tunnel.
 */
kind?: ("Tunnel" | "ClusterTunnel")
/**
 * Name of the tunnel.
 */
name: string
/**
 * Namespace of a Tunnel; default: that of this object.
 */
namespace?: string
}
/**
 * Who makes DNS records.
 */
dnsManagement?: ("Automatic" | "Manual" | "DNSRecord")
/**
 * Records go through Cloudflare.
 */
dnsProxied?: boolean
/**
 * Namespaces of the class; none means all.
 */
watchNamespaces?: string[]
/**
 * How cloudflared talks to the origin.
 */
defaultOriginRequest?: {
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin; needs https.
 */
http2Origin?: boolean
/**
 * Limit for connecting, a Go duration such as 30s.
 */
connectTimeout?: string
/**
 * Limit for the TLS handshake, a Go duration such as 30s.
 */
tlsTimeout?: string
/**
 * Time after which an idle connection is closed, a Go duration such as 30s.
 */
keepAliveTimeout?: string
/**
 * Interval of TCP keep-alive probes, a Go duration such as 30s.
 */
tcpKeepAlive?: string
/**
 * Idle connections that are kept.
 */
keepAliveConnections?: number
/**
 * Does not fall back between IPv4 and IPv6.
 */
noHappyEyeballs?: boolean
/**
 * Uses the Host of the request as server name.
 */
matchSNItoHost?: boolean
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Name that the certificate of the origin must have.
 */
originServerName?: string
/**
 * Host header for the origin.
 */
httpHostHeader?: string
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
/**
 * Sends no chunked bodies.
 */
disableChunkedEncoding?: boolean
/**
 * Runs as a jump host.
 */
bastionMode?: boolean
/**
 * Addresses that a SOCKS proxy may reach.
 * 
 * Items: One range of addresses.
 */
ipRules?: {
/**
 * Range in CIDR notation.
 */
prefix?: string
/**
 * Ports; none means all.
 */
ports?: number[]
/**
 * Whether the range may be reached.
 */
allow?: boolean
}[]
/**
 * Checks tokens of Cloudflare Access.
 */
access?: {
/**
 * Refuses requests without a token.
 */
required?: boolean
/**
 * Team whose tokens count.
 */
teamName?: string
/**
 * Audiences that count.
 */
audTag?: string[]
}
}
/**
 * Protocol of origins that tell none.
 */
defaultProtocol?: ("http" | "https" | "tcp" | "udp" | "ssh" | "rdp" | "smb" | "bastion" | "wss" | "ws")
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Whether it works.
 */
state?: ("pending" | "active" | "error")
/**
 * Hosts that are served.
 */
syncedHostnames?: string[]
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Ingresses of the class.
 */
ingressCount?: number
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * Tunnel is one Cloudflare Tunnel and the cloudflared that serves it.
 */
export interface Tunnel {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Tunnel that is created. Neither this nor existingTunnel means one that is named after the object.
 */
newTunnel?: {
/**
 * Name in the account.
 */
name?: string
}
/**
 * Tunnel that is there already; it is never deleted.
 */
existingTunnel?: {
/**
 * Identifier; comes first.
 */
id?: string
/**
 * Name in the account.
 */
name?: string
}
/**
 * Serves private networks to WARP clients.
 */
enableWarpRouting?: boolean
/**
 * Service for requests that no rule fits.
 */
fallbackTarget?: string
/**
 * How cloudflared talks to the origin.
 */
originRequest?: {
/**
 * Takes any certificate of the origin.
 */
noTlsVerify?: boolean
/**
 * Speaks HTTP/2 with the origin; needs https.
 */
http2Origin?: boolean
/**
 * Limit for connecting, a Go duration such as 30s.
 */
connectTimeout?: string
/**
 * Limit for the TLS handshake, a Go duration such as 30s.
 */
tlsTimeout?: string
/**
 * Time after which an idle connection is closed, a Go duration such as 30s.
 */
keepAliveTimeout?: string
/**
 * Interval of TCP keep-alive probes, a Go duration such as 30s.
 */
tcpKeepAlive?: string
/**
 * Idle connections that are kept.
 */
keepAliveConnections?: number
/**
 * Does not fall back between IPv4 and IPv6.
 */
noHappyEyeballs?: boolean
/**
 * Uses the Host of the request as server name.
 */
matchSNItoHost?: boolean
/**
 * File in the Secret originCaPool of the tunnel.
 */
caPool?: string
/**
 * Name that the certificate of the origin must have.
 */
originServerName?: string
/**
 * Host header for the origin.
 */
httpHostHeader?: string
/**
 * Address that the proxy listens on.
 */
proxyAddress?: string
/**
 * Port that the proxy listens on.
 */
proxyPort?: number
/**
 * Kind of proxy.
 */
proxyType?: ("" | "socks")
/**
 * Sends no chunked bodies.
 */
disableChunkedEncoding?: boolean
/**
 * Runs as a jump host.
 */
bastionMode?: boolean
/**
 * Addresses that a SOCKS proxy may reach.
 * 
 * Items: One range of addresses.
 */
ipRules?: {
/**
 * Range in CIDR notation.
 */
prefix?: string
/**
 * Ports; none means all.
 */
ports?: number[]
/**
 * Whether the range may be reached.
 */
allow?: boolean
}[]
/**
 * Checks tokens of Cloudflare Access.
 */
access?: {
/**
 * Refuses requests without a token.
 */
required?: boolean
/**
 * Team whose tokens count.
 */
teamName?: string
/**
 * Audiences that count.
 */
audTag?: string[]
}
}
/**
 * Takes any certificate of every origin.
 */
noTlsVerify?: boolean
/**
 * Secret with certificates of origins, mounted at /etc/cloudflared/certs.
 */
originCaPool?: string
/**
 * Protocol towards Cloudflare.
 */
protocol?: ("auto" | "quic" | "http2")
/**
 * Strategic merge patch of the Deployment, as JSON or YAML.
 */
deployPatch?: string
/**
 * Which hosts the objects of a namespace may claim on this tunnel. Without it every namespace may claim every host. Of all patterns that cover a host the most specific one decides, and whoever an entry with it means may claim the host; what nothing covers nobody may claim. A wildcard host stands for every name below it.
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: Namespaces, and the hosts that they may claim.
 */
hostPolicy?: ({
[k: string]: unknown
} & {
/**
 * Names of namespaces.
 * 
 * @maxItems 100
 */
namespaces?: string[]
/**
 * Labels of further namespaces; an empty selector means all.
 */
namespaceSelector?: {
/**
 * Labels with their values.
 */
matchLabels?: {
[k: string]: string
}
/**
 * Expressions that all must hold.
 * 
 * @maxItems 20
 * 
 * Items: A label and what holds of it.
 */
matchExpressions?: {
/**
 * Name of the label.
 */
key: string
/**
 * What holds.
 */
operator: ("In" | "NotIn" | "Exists" | "DoesNotExist")
/**
 * Values for In and NotIn.
 * 
 * @maxItems 100
 */
values?: string[]
}[]
}
/**
 * Names, such as app.example.com; *.example.com for every name below example.com, without example.com itself; * for all, rules without a host and fallbacks among them.
 * 
 * @minItems 1
 * @maxItems 100
 */
hostnames: string[]
})[]
/**
 * What becomes of the tunnel in the account when this object is deleted.
 */
deletionPolicy?: ("Delete" | "Orphan")
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Account of the tunnel.
 */
accountId?: string
/**
 * Whether it was there before the object; then it keeps its name and stays, unless the annotation adopt says that it is the object's own.
 */
adopted?: boolean
/**
 * Zone of the domain.
 */
zoneId?: string
/**
 * Stage of its life.
 */
state?: ("pending" | "creating" | "active" | "error" | "deleting")
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Hosts in the configuration that was last sent.
 */
syncedHostnames?: string[]
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * Tunnel is one Cloudflare Tunnel and the cloudflared that serves it.
 */
export interface TunnelV1Alpha1 {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Pods of cloudflared; becomes a part of deployPatch.
 */
size?: number
/**
 * Image of cloudflared; becomes a part of deployPatch.
 */
image?: string
/**
 * Labels that the nodes of the pods must have; becomes a part of deployPatch.
 */
nodeSelectors?: {
[k: string]: string
}
/**
 * Tolerations of the pods; becomes a part of deployPatch.
 */
tolerations?: {
/**
 * Key of the taint.
 */
key?: string
/**
 * How key and value relate to the taint.
 */
operator?: string
/**
 * Value of the taint.
 */
value?: string
/**
 * Effect of the taint.
 */
effect?: string
/**
 * Time for which the taint is tolerated.
 */
tolerationSeconds?: number
}[]
/**
 * Tunnel that is created. Neither this nor existingTunnel means one that is named after the object.
 */
newTunnel?: {
/**
 * Name in the account.
 */
name?: string
}
/**
 * Tunnel that is there already; it is never deleted.
 */
existingTunnel?: {
/**
 * Identifier; comes first.
 */
id?: string
/**
 * Name in the account.
 */
name?: string
}
/**
 * Service for requests that no rule fits.
 */
fallbackTarget?: string
/**
 * Takes any certificate of every origin.
 */
noTlsVerify?: boolean
/**
 * Secret with certificates of origins, mounted at /etc/cloudflared/certs.
 */
originCaPool?: string
/**
 * Protocol towards Cloudflare.
 */
protocol?: ("auto" | "quic" | "http2")
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier of the tunnel.
 */
tunnelId?: string
/**
 * Name of the tunnel.
 */
tunnelName?: string
/**
 * Account of the tunnel.
 */
accountId?: string
/**
 * Whether it was there before the object; then it keeps its name and stays, unless the annotation adopt says that it is the object's own.
 */
adopted?: boolean
/**
 * Zone of the domain.
 */
zoneId?: string
/**
 * Stage of its life.
 */
state?: ("pending" | "creating" | "active" | "error" | "deleting")
/**
 * Version of the configuration that was last sent.
 */
configVersion?: number
/**
 * Hosts in the configuration that was last sent.
 */
syncedHostnames?: string[]
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}

/**
 * VirtualNetwork is a virtual network of an account: private networks that overlap are told apart by it.
 */
export interface VirtualNetwork {
apiVersion: string
kind: string
metadata: ObjectMeta
/**
 * What is wanted.
 */
spec?: {
/**
 * Name in the account; default: that of the object.
 */
name?: string
/**
 * Text beside the marker of the owner.
 */
comment?: string
/**
 * Whether it is the default of the account.
 */
isDefaultNetwork?: boolean
/**
 * Account and credentials; empty means the default CloudflareCredentials.
 */
cloudflare?: {
/**
 * CloudflareCredentials to use; wins over an inline Secret.
 */
credentialsRef?: {
/**
 * Name of the object.
 */
name: string
}
/**
 * Zone; for a TunnelBinding also what hostnames without one end in.
 */
domain?: string
/**
 * Zone by its identifier; skips the look-up.
 */
zoneId?: string
/**
 * Secret with credentials, in the namespace of the object; for cluster-scoped kinds in that of the operator.
 */
secret?: string
/**
 * Account by its identifier.
 */
accountId?: string
/**
 * Account by its name, when no identifier is known.
 */
accountName?: string
/**
 * Address that belongs to a global API key.
 */
email?: string
/**
 * Key of the API token in the Secret.
 */
CLOUDFLARE_API_TOKEN?: string
/**
 * Key of the global API key in the Secret.
 */
CLOUDFLARE_API_KEY?: string
/**
 * Key of the credentials file of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_FILE?: string
/**
 * Key of the secret of an existing tunnel.
 */
CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET?: string
}
}
/**
 * What was reached.
 */
status?: {
/**
 * Identifier in the account.
 */
virtualNetworkId?: string
/**
 * Whether it is the default of the account.
 */
isDefault?: boolean
/**
 * Account of it.
 */
accountId?: string
/**
 * What is about to be created in the account; there until its identifier is known.
 */
claim?: string
/**
 * Stage of its life.
 */
state?: string
/**
 * Generation of the object that was last worked on.
 */
observedGeneration?: number
/**
 * Conditions.
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
status: ("True" | "False" | "Unknown")
/**
 * Reason in one word.
 */
reason?: string
/**
 * Reason for people.
 */
message?: string
/**
 * When the status last changed.
 */
lastTransitionTime?: string
/**
 * Generation that the condition speaks of.
 */
observedGeneration?: number
}[]
}
}
