import type { Delivery } from '@capstan/contracts';

export const idsOf = (deliveries: Delivery[]): string[] => deliveries.map((delivery) => delivery.invocation_id);
