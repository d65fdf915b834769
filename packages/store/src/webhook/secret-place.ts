/** A sealed secret can only be opened for its own endpoint. */
export const placeOf = (tenant: string, webhook_id: string) => ({ tenant, name: `webhook ${webhook_id}` });

/** For deliveries to the webhook_url of a call. */
export const defaultPlace = (tenant: string) => placeOf(tenant, 'default');
