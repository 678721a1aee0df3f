"""The protocol: packages, what storing costs, certified optima, scores of stores.

It imports nothing else of ours, reads no shipped data and asks no model: a judge, a store, units of
other conversations come in as arguments. To read it in a day, take this order:

    exact, errors         numbers that mean what a file says, and errors in one line
    package/package       the frozen problem: stream, candidates, units, queries, coverage
    package/response      h, how covering a unit more turns into value; package/objective: F(X)
    package/cost          what a text costs; words/ has the words of every script
    package/unit_parts    statements in parts: who, what, when
    package/digest        the name of a package; package/optimum: a value and its proof
    checker               checks a proof, in pure integers; trusts no solver
    solvers/solve         finds optima and proofs; solvers/form is what they all work on
    io/store_file         an exported store; io/packages, io/score_file: the other files
    score/package_scores  how a score is made, step by step, with the modules of score/ in order
    losses                what a store can lose, one record per loss
    stats/                intervals over packages, paired tests, agreement
"""
