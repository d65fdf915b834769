import { Bell, BellOff } from 'lucide-react';
import { turnNotices, useNoticesOn } from '../../app/notices.js';
import { Button } from '../../ui/button.js';
import { useToast } from '../../ui/toast.js';

/** Turns notifications of the browser on and off. */
export function NotifyButton() {
  const say = useToast();
  const on = useNoticesOn();
  if (!('Notification' in window)) return null;
  const toggle = async () => {
    if (!(await turnNotices(!on)))
      say.problem('Notifications are blocked', new Error('Allow them for this site in the browser’s settings.'));
  };
  return (
    <Button kind="ghost" icon={on ? <Bell /> : <BellOff />} aria-pressed={on} onClick={() => void toggle()}>
      Notify me
    </Button>
  );
}
