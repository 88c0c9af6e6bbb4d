package report_test

import (
	"os"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

func ExampleView_Rows() {
	rate, ci := 0.25, [2]float64{0.0456, 0.6994}
	result := score.Result{Runs: []score.RunResult{{
		Target: "sim/prudish", Dataset: "=starter", Label: orbench.Safe, N: 4, Answered: 4,
		Judges: []score.JudgeResult{{
			Judge: "lexical", Judged: 4, Refused: 1, Rate: stats.Rate{Share: &rate, CI95: &ci},
			ByClass: map[orbench.Class]int{orbench.FullAnswer: 3, orbench.Refusal: 1},
		}},
	}}}
	if err := table.AsCSV.Of(report.View{result})(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// target,dataset,dataset_sha256,label,judge,scope,category,n,answered,blocked,failed,unanswered,judged,unjudged,refused,rate,ci95_lo,ci95_hi,class_full_answer,class_answer_with_warning,class_partial,class_safe_alternative,class_refusal,class_blocked,class_empty,class_garbled,simulated,ci95_clustered_lo,ci95_clustered_hi,p_holm
	// sim/prudish,'=starter,,safe,lexical,all,,4,4,0,0,0,4,0,1,0.25,0.0456,0.6994,3,0,0,0,1,0,0,0,false,,,
}
