import { Failure, type FailureName, type FailureOptions } from '@capstan/contracts';

/** A thread's result. Structured cloning would strip a Failure of its class, so its constructor arguments are sent instead. */
export type ThreadAnswer<Document> =
  | { ok: true; document: Document }
  | { ok: false; kind: FailureName; options: Pick<FailureOptions, 'detail' | 'suggestion' | 'context'> };

export function toAnswer<Document>(read: () => Document): ThreadAnswer<Document> {
  try {
    return { ok: true, document: read() };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message: detail, suggestion, context } = error;
    return { ok: false, kind, options: { detail, suggestion, context } };
  }
}

export function fromAnswer<Document>(answer: ThreadAnswer<Document>): Document {
  if (answer.ok) return answer.document;
  throw new Failure(answer.kind, answer.options);
}
