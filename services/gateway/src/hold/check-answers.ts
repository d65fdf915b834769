import { compileSchema } from '@capstan/catalog';
import {
  type Answers,
  Failure,
  isObject,
  type JsonObject,
  type Question,
  type QuestionRequest,
} from '@capstan/contracts';

/** Throws a Failure about the first answer that does not fit its question. Unknown keys are ignored. */
export function checkAnswers(hold_id: string, { requests }: Question, answers: Answers): void {
  const keys = Object.keys(requests);
  if (!keys.some((key) => key in answers))
    throw wrong(hold_id, `none of the answers matches a question; the questions are ${keys.join(', ')}`);
  for (const [key, request] of Object.entries(requests)) {
    const given = answers[key];
    const why = given === undefined ? null : whyWrong(request, given);
    if (why !== null) throw wrong(hold_id, `the answer to ${key} ${why}`);
  }
}

/** Fills in the defaults of the form for fields that an answer leaves out. */
export const withDefaults = ({ requests }: Question, answers: Answers): Answers =>
  Object.fromEntries(
    Object.entries(answers).map(([key, given]) => [key, filledIn(requests[key]?.params?.requestedSchema, given)]),
  );

function filledIn(schema: unknown, given: JsonObject): JsonObject {
  const fields = isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (given.action !== 'accept' || !isObject(given.content)) return given;
  const defaults = fields.flatMap(([name, field]) =>
    isObject(field) && field.default !== undefined ? [[name, field.default]] : [],
  );
  return { ...given, content: { ...Object.fromEntries(defaults), ...given.content } };
}

function whyWrong({ method, params }: QuestionRequest, given: JsonObject): string | null {
  if (method === 'sampling/createMessage')
    return typeof given.model === 'string' && given.content !== undefined ? null : 'needs model, role and content';
  if (method === 'roots/list') return Array.isArray(given.roots) ? null : 'needs a list of roots';
  if (!['accept', 'decline', 'cancel'].includes(String(given.action)))
    return 'needs an action: accept (with content), decline or cancel';
  if (given.action !== 'accept' || params?.mode === 'url') return null;
  const { requestedSchema } = params ?? {};
  if (!isObject(given.content)) return 'needs content';
  return isObject(requestedSchema) ? whyNotForm(requestedSchema, given.content) : null;
}

function whyNotForm(schema: JsonObject, content: JsonObject): string | null {
  const validate = compiled(schema);
  const [issue] = validate ? validate(content) : [];
  return issue ? `does not fit its form: content.${issue.path.join('.')} ${issue.message}` : null;
}

/** Null if the schema cannot be compiled here; then the server has to check the answer. */
function compiled(schema: JsonObject): ReturnType<typeof compileSchema> | null {
  try {
    return compileSchema(schema);
  } catch {
    return null;
  }
}

const wrong = (hold_id: string, detail: string): Failure =>
  new Failure('INVALID_REQUEST', {
    detail: `${hold_id}: ${detail}.`,
    suggestion: 'GET /v1/holds/{id} has the questions with their forms.',
    context: { hold_id },
  });
