package command

import (
	"strings"

	"esmed/cmd/esmed/docs"

	"github.com/spf13/cobra"
)

// helpCommand explains commands, and topics of the embedded documentation.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [TOPIC | COMMAND]",
		Short:   "Explain a topic or a command",
		Example: "  esmed help getting-started\n  esmed help queue hold",
		GroupID: groupTools,

		ValidArgsFunction: completeHelp(root),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := output{w: cmd.OutOrStdout()}
			if len(args) == 0 {
				if err := root.Help(); err != nil {
					return err
				}
				o.printf("\nTopics (esmed help TOPIC):\n")
				for _, t := range docs.Topics() {
					o.printf("  %-24s %s\n", t.Name, t.Title)
				}
				return nil
			}
			if len(args) == 1 {
				if text, ok := docs.Text(args[0]); ok {
					o.printf("%s", text)
					return nil
				}
			}
			if found, rest, err := root.Find(args); err == nil && found != root && len(rest) == 0 {
				return found.Help()
			}
			names := make([]string, 0, len(docs.Topics()))
			for _, t := range docs.Topics() {
				names = append(names, t.Name)
			}
			return &failure{
				text: "there is no topic or command " + quote(strings.Join(args, " ")),
				hint: "topics are " + strings.Join(names, ", ") + "; esmed help lists the commands",
				code: exitUsage,
			}
		},
	}
}
