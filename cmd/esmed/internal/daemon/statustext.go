package daemon

import (
	"fmt"
	"strings"
	"time"
)

// statusEvery is how often the line that `systemctl status` shows is made anew.
const statusEvery = 2 * time.Second

// stopMargin is what a stop may take besides draining the windows: unbinding, requests in flight, the store's last
// records.
const stopMargin = 30 * time.Second

// statusText says in one line how things stand. It asks the store nothing that could have to wait.
func (d *daemon) statusText() string {
	bound, total := 0, 0
	var down []string
	for _, m := range d.fleet.members() {
		for _, st := range m.client.Status() {
			total++
			switch {
			case st.State.Bound():
				bound++
			case st.Stopped:
				down = append(down, st.Name+" (stopped)")
			default:
				down = append(down, st.Name)
			}
		}
	}
	text := fmt.Sprintf("%d of %d sessions bound", bound, total)
	if len(down) > 0 {
		text += "; not bound: " + few(down)
	}
	if d.room.refuses.Load() {
		text += "; messages are refused: the disk is nearly full"
	}
	if d.obstructed.Load() {
		text += "; queries are refused: " + behind
	}
	return text
}

const behind = "the projection does not follow the log"

// startText says what a start that takes its time waits for.
func (d *daemon) startText() string {
	if d.obstructed.Load() {
		return "starting; waiting: " + behind
	}
	p := d.store.Applied()
	if end := d.store.Head().Seq; p < end {
		return fmt.Sprintf("starting; making the projection: %d of %d records", p, end)
	}
	return "starting"
}

// fewNames is how many names a line has room for.
const fewNames = 5

// few lists names, and counts those for which there is no room.
func few(names []string) string {
	if len(names) <= fewNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:fewNames], ", "), len(names)-fewNames)
}
