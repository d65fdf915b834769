export { canonicalHost } from './address/canonical-host.js';
export { isDeniedAddress, isMetadataAddress } from './address/is-denied-address.js';
export * from './create-egress.js';
export type { EgressRequest, EgressResponse } from './fetch/guarded-fetch.js';
export type { ReadBody, ReadLimits } from './fetch/read-body.js';
export { checkUrl, urlRefusal } from './guard/check-url.js';
export type { EgressRules } from './guard/egress-rules.js';
export { hostRefusal } from './guard/host-refusal.js';
export { matchesDomain } from './guard/matches-domain.js';
export { refusalOf } from './guard/refusal-of.js';
export { type Resolve, systemResolve } from './guard/resolve-checked.js';
export {
  type EgressProxy,
  type EgressProxyOptions,
  PROXY_STATUS,
  type Refusal,
  startEgressProxy,
} from './proxy/start-egress-proxy.js';
