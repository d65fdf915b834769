import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export type TabOf<Name extends string> = { name: Name; label: ReactNode; content: () => ReactNode };

type TabsProps<Name extends string> = {
  label: string;
  tabs: readonly TabOf<Name>[];
  value: Name;
  onChange(value: Name): void;
};

export const Tabs = <Name extends string>({ label, tabs, value, onChange }: TabsProps<Name>) => (
  <Radix.Root
    className="stack"
    value={value}
    onValueChange={(name) => {
      const tab = tabs.find((each) => each.name === name);
      if (tab) onChange(tab.name);
    }}
  >
    <Radix.List className="tabs-list" aria-label={label}>
      {tabs.map(({ name, label: text }) => (
        <Radix.Trigger key={name} value={name} className="tab">
          {text}
        </Radix.Trigger>
      ))}
    </Radix.List>
    {tabs.map(({ name, content }) => (
      <Radix.Content key={name} value={name} tabIndex={-1}>
        {name === value ? content() : null}
      </Radix.Content>
    ))}
  </Radix.Root>
);

type SegmentedProps<Name extends string> = {
  label: string;
  options: readonly { name: Name; label: ReactNode }[];
  value: Name;
  onChange(value: Name): void;
};

/** Switches between a few views of the same data. */
export const Segmented = <Name extends string>({ label, options, value, onChange }: SegmentedProps<Name>) => (
  <fieldset className="segmented" aria-label={label}>
    {options.map(({ name, label: text }) => (
      <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
        {text}
      </button>
    ))}
  </fieldset>
);
