import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';

/** Both the schema and the document are untrusted, so patterns run on RE2, in linear time. */
const linearRegExp = Object.assign(
  // Ajv identifies patterns by their text.
  (pattern: string) => ({ test: matcherOf(pattern), toString: () => pattern }),
  { code: 'require("re2js")' },
);

const matcherOf = (pattern: string): ((text: string) => boolean) => {
  const compiled = RE2JS.compile(pattern);
  return (text) => compiled.matcher(text).find();
};

/** References to other documents are errors, because nothing is fetched. Unknown formats accept any text. */
export const createAjv = (): Ajv2020 => {
  const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false, code: { regExp: linearRegExp } });
  addFormats.default(ajv);
  return ajv;
};
