import { Bell, BellOff } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useHoldCount } from '../../api/holds.js';
import { Button } from '../../ui/button.js';
import { useToast } from '../../ui/toast.js';

const KEY = 'capstan-notify';

/** A notification of the browser when something new waits while the page is out of sight. */
export function NotifyButton() {
  const say = useToast();
  const [on, setOn] = useState(localStorage.getItem(KEY) === 'on' && isGranted());
  const count = useHoldCount();
  const before = useRef(count);
  useEffect(() => {
    const more = count - before.current;
    before.current = count;
    if (on && more > 0 && document.hidden)
      new Notification('Capstan', {
        body: `${more} more ${more === 1 ? 'call waits' : 'calls wait'} for a decision`,
        tag: 'capstan-holds',
      });
  }, [count, on]);
  if (!('Notification' in window)) return null;
  const toggle = async () => {
    if (on) {
      localStorage.removeItem(KEY);
      setOn(false);
    } else if ((await Notification.requestPermission()) === 'granted') {
      localStorage.setItem(KEY, 'on');
      setOn(true);
    } else say.problem('Notifications are blocked', new Error('Allow them for this site in the browser’s settings.'));
  };
  return (
    <Button kind="ghost" icon={on ? <Bell /> : <BellOff />} aria-pressed={on} onClick={() => void toggle()}>
      Notify me
    </Button>
  );
}

const isGranted = (): boolean => 'Notification' in window && Notification.permission === 'granted';
