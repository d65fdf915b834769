/** When to say that a hold is about to expire: a fifth of its time before, at most a quarter of an hour. */
export const warnAt = (window: string) => `expires_at - least((${window}) / 5, interval '15 minutes')`;
