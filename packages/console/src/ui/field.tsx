import { type ReactNode, useId } from 'react';

type Props = {
  label: ReactNode;
  hint?: ReactNode;
  wrong?: string | undefined;
  /** Renders the control with the attributes that link it to its label. */
  children(control: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
  }): ReactNode;
};

export function Field({ label, hint, wrong, children }: Props) {
  const id = useId();
  const about = `${id}-about`;
  const described = hint || wrong ? about : undefined;
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': wrong ? true : undefined })}
      {described ? (
        <div id={about} className={wrong ? 'wrong' : 'hint'}>
          {wrong ?? hint}
        </div>
      ) : null}
    </div>
  );
}

type TextProps = {
  label: ReactNode;
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  wrong?: string | undefined;
  placeholder?: string;
  type?: string;
  code?: boolean;
  lines?: number;
  required?: boolean;
  autoFocus?: boolean;
};

export function TextField({
  label,
  value,
  onChange,
  hint,
  wrong,
  code,
  lines,
  type = 'text',
  autoFocus = false,
  ...given
}: TextProps) {
  const rest = { ...given, ...(autoFocus ? { autoFocus, 'data-first': true } : {}) };
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(control) =>
        lines === undefined ? (
          <input
            {...control}
            {...rest}
            type={type}
            className={`input ${code ? 'code' : ''}`}
            value={value}
            autoComplete="off"
            spellCheck={!code}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <textarea
            {...control}
            {...rest}
            rows={lines}
            className={`textarea ${code ? 'code' : ''}`}
            value={value}
            spellCheck={!code}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

type SelectProps = {
  label: ReactNode;
  value: string;
  onChange(value: string): void;
  options: readonly (readonly [value: string, label: string])[];
  hint?: ReactNode;
};

export const SelectField = ({ label, value, onChange, options, hint }: SelectProps) => (
  <Field label={label} hint={hint}>
    {(control) => (
      <select {...control} className="select" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const CheckField = ({
  label,
  value,
  onChange,
  disabled = false,
}: {
  label: ReactNode;
  value: boolean;
  onChange(value: boolean): void;
  disabled?: boolean;
}) => (
  <label className="check">
    <input type="checkbox" checked={value} disabled={disabled} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
);
