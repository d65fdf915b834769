/** A sealed secret opens for its own endpoint only. */
export const placeOf = (tenant: string, webhook_id: string) => ({ tenant, name: `webhook ${webhook_id}` });

/** Of what is told to a webhook_url. */
export const defaultPlace = (tenant: string) => placeOf(tenant, 'default');
