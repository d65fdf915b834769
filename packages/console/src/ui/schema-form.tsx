import type { Json, JsonObject } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { type ReactNode, useState } from 'react';
import { CheckField, Field, SelectField, TextField } from './field.js';
import { SafeText } from './safe-text.js';
import './schema-form.css';

/** The parts of JSON Schema that the form supports. Anything else is edited as JSON. */
type Schema = {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: Json[];
  const?: Json;
  default?: Json;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
};

type FormProps = {
  schema: JsonObject;
  value: JsonObject;
  onChange(value: JsonObject): void;
  /** Errors by the path of the member, as reported by the gateway. */
  errors?: Readonly<Record<string, string>>;
  /** The inputs of a call, in which secrets are replaced by placeholders. The gateway keeps the values of unchanged placeholders. */
  keeps_secrets?: boolean;
};

/** The gateway's placeholder for a secret. */
const REDACTED = '[REDACTED]';

/** A form for the inputs of a tool, from its JSON Schema. Members that are not in the schema are kept and shown as JSON. */
export function SchemaForm({ schema, value, onChange, errors = {}, keeps_secrets = false }: FormProps) {
  return (
    <Members
      schema={schema as Schema}
      value={value}
      onChange={onChange}
      path=""
      errors={errors}
      keeps_secrets={keeps_secrets}
    />
  );
}

type MembersProps = {
  schema: Schema;
  value: JsonObject;
  onChange(value: JsonObject): void;
  path: string;
  errors: Readonly<Record<string, string>>;
  keeps_secrets: boolean;
};

function Members({ schema, value, onChange, path, errors, keeps_secrets }: MembersProps) {
  const known = schema.properties ?? {};
  const names = [...Object.keys(known), ...Object.keys(value).filter((name) => !(name in known))];
  if (names.length === 0) return <p className="muted">This tool takes no inputs.</p>;
  const put = (name: string, member: Json | undefined) => {
    const { [name]: _, ...others } = value;
    onChange(member === undefined ? others : { ...value, [name]: member });
  };
  return (
    <div className="schema-form">
      {names.map((name) => (
        <Member
          key={name}
          name={name}
          schema={known[name] ?? {}}
          required={schema.required?.includes(name) ?? false}
          value={value[name]}
          onChange={(member) => put(name, member)}
          path={path === '' ? name : `${path}.${name}`}
          errors={errors}
          keeps_secrets={keeps_secrets}
        />
      ))}
    </div>
  );
}

type MemberProps = {
  name: string;
  schema: Schema;
  required: boolean;
  value: Json | undefined;
  onChange(value: Json | undefined): void;
  path: string;
  errors: Readonly<Record<string, string>>;
  keeps_secrets: boolean;
};

function Member({ name, schema, required, value, onChange: tell, path, errors, keeps_secrets }: MemberProps) {
  const [touched, setTouched] = useState(false);
  const onChange = (member: Json | undefined) => {
    setTouched(true);
    tell(member);
  };
  const label = (
    <>
      <SafeText text={schema.title ?? name} />
      {required ? null : <span className="muted">optional</span>}
    </>
  );
  const hint = schema.description ? <SafeText text={schema.description} /> : undefined;
  const wrong = errors[path] ?? (touched && value === undefined && required ? 'Required.' : whyWrong(schema, value));
  const kind = kindOf(schema, value);
  if (keeps_secrets && kind !== 'members' && value !== undefined && JSON.stringify(value).includes(REDACTED))
    return <KeptField label={label} value={typeof value === 'string' ? value : JSON.stringify(value)} />;
  switch (kind) {
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={hint}
          value={value === undefined ? '' : JSON.stringify(value)}
          onChange={(text) => onChange(text === '' ? undefined : JSON.parse(text))}
          options={[
            ['', '—'],
            ...(schema.enum ?? []).map((each): [string, string] => [JSON.stringify(each), String(each)]),
          ]}
        />
      );
    case 'boolean':
      return (
        <div className="field">
          <CheckField label={label} value={value === true} onChange={onChange} />
          {hint ? <div className="hint">{hint}</div> : null}
        </div>
      );
    case 'number':
      return (
        <TextField
          label={label}
          hint={hint}
          wrong={wrong}
          value={value === undefined ? '' : String(value)}
          onChange={(text) =>
            onChange(text.trim() === '' ? undefined : Number.isNaN(Number(text)) ? text : Number(text))
          }
        />
      );
    case 'text':
      return (
        <TextField
          label={label}
          hint={hint}
          wrong={wrong}
          value={typeof value === 'string' ? value : ''}
          {...(typeof value === 'string' && (value.includes('\n') || value.length > 80) ? { lines: 4 } : {})}
          onChange={(text) => onChange(text === '' && !required ? undefined : text)}
        />
      );
    case 'lines':
      return (
        <TextField
          label={label}
          hint={hint ?? 'One per line.'}
          wrong={wrong}
          lines={Math.min(8, Math.max(2, Array.isArray(value) ? value.length : 2))}
          code
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={(text) => onChange(text === '' ? undefined : text.split('\n'))}
        />
      );
    case 'members':
      return (
        <fieldset className="schema-group">
          <legend>{label}</legend>
          {hint ? <div className="muted">{hint}</div> : null}
          <Members
            schema={schema}
            value={asObject(value)}
            onChange={onChange}
            path={path}
            errors={errors}
            keeps_secrets={keeps_secrets}
          />
        </fieldset>
      );
    case 'json':
      return <JsonField label={label} hint={hint} wrong={errors[path]} value={value} onChange={onChange} />;
  }
}

/** Read-only, because an edited placeholder would become the value. */
const KeptField = ({ label, value }: { label: ReactNode; value: string }) => (
  <Field
    label={label}
    hint="It contains a secret that is not shown, and stays unchanged. To replace it, enter a new value under JSON."
  >
    {(control) => <input {...control} className="input" value={value} readOnly />}
  </Field>
);

type Kind = 'choice' | 'boolean' | 'number' | 'text' | 'lines' | 'members' | 'json';

/** The control for a schema. A value of a different type is shown as JSON. */
function kindOf(schema: Schema, value: Json | undefined): Kind {
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type;
  if (schema.enum && schema.enum.length <= 50) return 'choice';
  if (type === 'boolean' && (value === undefined || typeof value === 'boolean')) return 'boolean';
  if ((type === 'number' || type === 'integer') && (value === undefined || typeof value !== 'object')) return 'number';
  if (type === 'string' && (value === undefined || typeof value === 'string')) return 'text';
  if (type === undefined && typeof value === 'string') return 'text';
  if (type === 'array' && schema.items?.type === 'string' && (value === undefined || isLines(value))) return 'lines';
  if (type === 'object' && schema.properties && (value === undefined || typeof value === 'object')) return 'members';
  return 'json';
}

const isLines = (value: Json): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && !each.includes('\n'));
const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

function whyWrong(schema: Schema, value: Json | undefined): string | undefined {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (type === 'number' || type === 'integer') {
    if (value === undefined) return undefined;
    if (typeof value !== 'number') return 'Must be a number.';
    if (type === 'integer' && !Number.isInteger(value)) return 'Must be a whole number.';
    if (minimum !== undefined && value < minimum) return `Must be at least ${minimum}.`;
    if (maximum !== undefined && value > maximum) return `Must be at most ${maximum}.`;
  }
  if (typeof value === 'string') {
    if (minLength !== undefined && value.length < minLength) return `Must have at least ${minLength} characters.`;
    if (maxLength !== undefined && value.length > maxLength) return `Must have at most ${maxLength} characters.`;
  }
  return undefined;
}

type JsonFieldProps = {
  label: ReactNode;
  hint?: ReactNode;
  wrong: string | undefined;
  value: Json | undefined;
  onChange(value: Json | undefined): void;
};

/** Keeps the typed text until it is valid JSON. */
export function JsonField({ label, hint, wrong, value, onChange }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const [bad, setBad] = useState<string>();
  const take = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setBad(undefined);
    } catch (error) {
      setBad(error instanceof Error ? error.message : 'Not valid JSON.');
    }
  };
  return (
    <Field label={label} hint={hint} wrong={bad ?? wrong}>
      {(control) => (
        <textarea
          {...control}
          className="textarea code"
          rows={Math.min(16, Math.max(2, text.split('\n').length))}
          spellCheck={false}
          value={text}
          onChange={(event) => take(event.target.value)}
        />
      )}
    </Field>
  );
}
