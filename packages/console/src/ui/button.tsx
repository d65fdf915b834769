import { Link, type LinkProps } from '@tanstack/react-router';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import type { May } from '../api/me.js';
import { Tip } from './tip.js';

type Look = {
  kind?: 'primary' | 'danger' | 'danger filled' | 'ghost';
  size?: 'small' | 'large';
  icon?: ReactNode;
  /** The keyboard shortcut. */
  keys?: string;
  block?: boolean;
};

type ButtonProps = Look &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'type'> & {
    /** Whether it can be pressed now. If not, the reason is shown instead. */
    may?: May;
    busy?: boolean;
    submit?: boolean;
    /** Gets the focus when its dialog opens. */
    'data-first'?: boolean;
  };

const classOf = ({ kind, size, icon, block }: Look, alone: boolean): string =>
  ['button', kind, size, icon && alone ? 'icon' : '', block ? 'full' : ''].filter(Boolean).join(' ');

/** A disabled button stays in the tab order, so that its reason can be found. */
export function Button({
  kind,
  size,
  icon,
  keys,
  block,
  may,
  busy,
  submit,
  children,
  onClick,
  className,
  ...rest
}: ButtonProps) {
  const stopped = may?.ok === false || busy === true;
  const button = (
    <button
      {...rest}
      type={submit ? 'submit' : 'button'}
      className={`${classOf({ ...(kind ? { kind } : {}), ...(size ? { size } : {}), icon, ...(block ? { block } : {}) }, children === undefined)} ${className ?? ''}`}
      aria-disabled={stopped || undefined}
      aria-busy={busy || undefined}
      onClick={(event) => {
        if (stopped) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon}
      {children}
      {keys ? <Keys of={keys} /> : null}
    </button>
  );
  const why = may?.ok === false ? may.why : null;
  const label = why ?? (children === undefined ? rest['aria-label'] : undefined);
  return label ? <Tip text={label}>{button}</Tip> : button;
}

type IconButtonProps = { icon: ReactNode; label: string; may?: May; onClick(): void };

/** A small button with an icon alone. Its label is its accessible name and its tooltip. */
export const IconButton = ({ label, ...rest }: IconButtonProps) => (
  <Button kind="ghost" size="small" aria-label={label} {...rest} />
);

type ButtonLinkProps = Look & Pick<LinkProps, 'to' | 'params' | 'search'> & { children?: ReactNode };

export const ButtonLink = ({ to, params, search, children, ...look }: ButtonLinkProps) => (
  <Link
    className={classOf(look, children === undefined)}
    {...{ to, ...(params === undefined ? {} : { params }), ...(search === undefined ? {} : { search }) }}
  >
    {look.icon}
    {children}
  </Link>
);

/** Shows a key as a hint. The surrounding element says what it does. */
const Keys = ({ of }: { of: string }) => (
  <span className="kbd wide-only" aria-hidden="true">
    {of}
  </span>
);
