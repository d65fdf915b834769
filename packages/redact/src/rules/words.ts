import { createAutomaton } from '../automaton.js';

/** Words from names, paths and prose. About one in a hundred random values of forty characters contains one. */
const WORDS = `
  account action active address admin after album alias alpha amazon android anim apache apple archive array asset async
  audio author azure backend backup banner basic batch before binary block board branch brand browser bucket buffer build
  button cache calendar callback camera cancel capital card catalog category center certificate chain change channel
  chart check child class client close cloud cluster column command comment common compile complete component config
  connect console constant contact container content context control cookie copy count country create credential
  current custom customer dashboard database datetime debug default define delete demo deploy desc design detail dev-
  device dialog digest direct disable display docker document domain download driver dummy dynamic editor elastic element
  email empty enable encode endpoint engine entity entry enum environment error event example execute expire export
  express extension external factory false feature field figure file filter find first flag folder follow footer format
  foundation frame framework front full function game gateway general generat github global google gradient graph group
  handle hash header health hello hidden history home host html http icon identif iframe image import include index info
  init inner input insert install instance int-test integer integrat interface internal invalid invoice issue item java
  jenkins job json keyword kubernetes label lambda language latest layer layout length level library license light line
  link linux list load local location lock login logo loop machine mail main manager manifest map- mapping market master
  match media member memory menu merge message meta method metric micro middle migrat mobile mock model module monitor
  mount music mysql name namespace native network next node normal notif null number object offset online open operator
  option order origin output owner package page panel parent parse partial partner party password path payload payment
  person phone photo picture pipeline place plan platform player plugin policy popup port position post power prefix
  preview price primary print private process prod product profile program project prompt proper protocol provider proxy
  public publish push python query queue random range read recent record redirect redis refresh region register regex
  release remote remove render replace report repo request require reset resource response result return review role root
  route rule sample sandbox save schedule schema scope screen script search second secret section secure select send
  sequence serial server service session setting shadow share shell show side sign simple single size slack slide snapshot
  social socket solution sort source space spark special sprint sql- stack stage standard start state static status step
  stop storage store stream string struct style subject submit subscri success suffix summary support swift switch symbol
  sync system table tag- target task team temp template tenant test text theme thread time title todo toggle token tool
  topic total track train transaction transform transl tree trigger true tutorial type ubuntu undefined unique unit
  update upload user using util valid value vector vendor verify version video view virtual visible warn web- widget window
  with word work worker workflow workspace world wrapper write xcode your zone`;

const LONGER = WORDS.split(/\s+/).filter((word) => word.length >= 5);
const FOUR = WORDS.split(/\s+/).filter((word) => word.length === 4);

const literals = (words: string[]) => words.map((text) => ({ text, value: text, hidden: false }));
const anyLonger = createAutomaton(literals(LONGER), { fold: true });
const anyFour = createAutomaton(literals(FOUR), { fold: true });

/** True if a value contains ordinary words. Words of four letters count only as separate words. */
export const holdsWords = (value: string): boolean =>
  anyLonger.finds(value) ||
  value.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).some((part) => part.length === 4 && anyFour.finds(part));
