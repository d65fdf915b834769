import { type Capability, CapabilityFile, Failure, issueText } from '@capstan/contracts';
import { readYaml } from '@capstan/expression';

/** Parses capabilities from YAML or JSON. A misspelled key is an error. */
export function parseCapabilities(text: string): Capability[] {
  const parsed = CapabilityFile.safeParse(parseYaml(text));
  if (parsed.success) return parsed.data.capabilities;
  const errors = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${[...issue.path, key].join('.')} is not a known field`)
      : [`${issue.path.join('.') || 'the document'}: ${issueText(issue)}`],
  );
  throw new Failure('INVALID_REQUEST', { detail: `The capabilities file is invalid: ${errors.join('; ')}.` });
}

function parseYaml(text: string): unknown {
  const { value, errors } = readYaml(text);
  const [first] = errors;
  if (!first) return value;
  const place = first.line === undefined ? '' : `line ${first.line}, column ${first.column}: `;
  throw new Failure('INVALID_REQUEST', { detail: `The capabilities file is not YAML: ${place}${first.message}` });
}
