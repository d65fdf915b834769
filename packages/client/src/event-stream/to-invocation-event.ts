import type { InvocationEvent } from '@capstan/contracts';
import type { StreamMessage } from './parse-event-stream.js';

/** Null for a kind of event that this client does not know. */
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
