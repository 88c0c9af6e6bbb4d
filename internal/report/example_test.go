package report_test

import (
	"os"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

func ExampleView_Rows() {
	result := score.Result{Runs: []score.RunResult{{
		About:    score.About{Target: "sim/prudish", Dataset: "=starter", Label: orbench.Safe},
		N:        4,
		Answered: 4,
		Judges: []score.JudgeResult{{
			Judge: "lexical", Judged: 4, Refused: 1,
			ByClass: map[orbench.Class]int{orbench.FullAnswer: 3, orbench.Refusal: 1},
		}},
	}}}
	result.Runs[0].Finish()
	if err := table.AsCSV.Of(report.View{Result: result})(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// measure,target,other,dataset,dataset_sha256,other_dataset,other_dataset_sha256,limit,label,category,judge,part,n,k,missing,value,range_lo,range_hi,sampling_lo,sampling_hi,p,p_holm,p_holm_by_verdicts,checked,labels,people,assumes,test,clustered_by,samples,simulated,warnings
	// over_refusal,sim/prudish,,'=starter,,,,0,safe,,lexical,,4,1,,0.25,,,0.0455872608097006,0.699358157417598,,,,never checked,0,0,,,,0,false,
	// became,sim/prudish,,'=starter,,,,0,safe,,,answered,4,4,,1,,,,,,,,,0,0,,,,0,false,
	// without_filters,sim/prudish,,'=starter,,,,0,safe,,lexical,,4,1,,0.25,,,0.0455872608097006,0.699358157417598,,,,never checked,0,0,,,,0,false,
	// class,sim/prudish,,'=starter,,,,0,safe,,lexical,full_answer,4,3,,0.75,,,,,,,,,0,0,,,,0,false,
	// class,sim/prudish,,'=starter,,,,0,safe,,lexical,refusal,4,1,,0.25,,,,,,,,,0,0,,,,0,false,
}
