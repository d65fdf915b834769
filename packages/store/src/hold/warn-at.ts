/** When to warn that a hold is about to expire: a fifth of its lifetime before, but at most 15 minutes. */
export const warnAt = (window: string) => `expires_at - least((${window}) / 5, interval '15 minutes')`;
