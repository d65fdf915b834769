import type { InvocationEvent } from '@capstan/contracts';
import type { StreamMessage } from './parse-event-stream.js';

/** Returns null for a kind of event that this client does not know. Its data is not validated again; see `fromGateway`. */
export const toInvocationEvent = ({ id, event, data }: StreamMessage): InvocationEvent | null => {
  switch (event) {
    case 'status':
    case 'log':
    case 'result':
      return { id, event, data: JSON.parse(data) };
    default:
      return null;
  }
};
