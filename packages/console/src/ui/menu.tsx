import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import type { May } from '../api/me.js';

export type MenuItem =
  | 'line'
  | { heading: ReactNode }
  | { label: ReactNode; icon?: ReactNode; danger?: boolean; may?: May; onSelect(): void };

/** Not modal, so that the page behind it does not change and no style has to be injected. */
export const Menu = ({
  trigger,
  items,
  align = 'end',
}: {
  trigger: ReactNode;
  items: readonly MenuItem[];
  align?: 'start' | 'end';
}) => (
  <DropdownMenu.Root modal={false}>
    <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
    <DropdownMenu.Portal>
      <DropdownMenu.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
        {items.map((item, place) => {
          const key = `item ${place}`;
          if (item === 'line') return <DropdownMenu.Separator key={key} className="menu-line" />;
          if ('heading' in item)
            return (
              <DropdownMenu.Label key={key} className="menu-label">
                {item.heading}
              </DropdownMenu.Label>
            );
          return (
            <DropdownMenu.Item
              key={key}
              className={`menu-item ${item.danger ? 'danger' : ''}`}
              disabled={item.may?.ok === false}
              title={item.may?.why ?? undefined}
              onSelect={item.onSelect}
            >
              {item.icon}
              {item.label}
            </DropdownMenu.Item>
          );
        })}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  </DropdownMenu.Root>
);
