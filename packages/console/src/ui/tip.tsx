import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

export const Tip = ({ text, children }: { text: ReactNode; children: ReactNode }) => (
  <Tooltip.Root delayDuration={250}>
    <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
    <Tooltip.Portal>
      <Tooltip.Content className="tip" sideOffset={6} collisionPadding={8}>
        {text}
      </Tooltip.Content>
    </Tooltip.Portal>
  </Tooltip.Root>
);
