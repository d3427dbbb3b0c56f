"""Programs that prepare records: the examples of DataVec."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    AnalyzeLocal,
    CategoricalColumnCondition,
    CategoricalToIntegerTransform,
    ConditionFilter,
    ConditionOp,
    CSVRecordReader,
    CSVRecordWriter,
    DateTimeFieldType,
    DateTimeZone,
    DeriveColumnsFromTimeTransform,
    DoubleColumnCondition,
    DoubleWritable,
    FileSplit,
    HtmlAnalysis,
    ImagePreProcessingScaler,
    Join,
    LocalTransformExecutor,
    MathOp,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    NumberOfRecordsPartitioner,
    RecordReaderDataSetIterator,
    ReduceOp,
    Reducer,
    Schema,
    SVMLightRecordReader,
    TransformProcess,
    TransformProcessRecordReader,
)
from tests.ports.data import write_lines


def customer_transactions(folder: Path):
    write_lines(folder / "data.csv", [
        "2016-01-01 17:00:00.000,830a7u3,u323fy8902,1,USA,100.00,Legit",
        "2016-01-01 18:03:01.256,830a7u3,9732498oeu,3,FR,73.20,Legit",
        "2016-01-03 02:53:32.231,78ueoau32,w234e989,1,USA,1621.00,Fraud",
        "2016-01-03 09:30:16.832,t842uocd,9732498oeu,4,USA,43.19,Legit",
        "2016-01-04 23:01:52.920,t842uocd,cza8873bm,10,MX,159.65,Legit",
        "2016-01-05 02:28:10.648,t842uocd,fgcq9803,6,CAN,-26.33,Fraud",
        "2016-01-05 10:15:36.483,rgc707ke3,tn342v7,2,USA,-0.90,Legit"])
    inputDataSchema = (Schema.Builder()
                       .addColumnString("DateTimeString")
                       .addColumnsString("CustomerID", "MerchantID")
                       .addColumnInteger("NumItemsInTransaction")
                       .addColumnCategorical("MerchantCountryCode", "USA", "CAN", "FR", "MX")
                       .addColumnDouble("TransactionAmountUSD", 0.0, None, False, False)
                       .addColumnCategorical("FraudLabel", ["Fraud", "Legit"])
                       .build())
    print(inputDataSchema)
    assert inputDataSchema.numColumns() == 7 and "CustomerID" in inputDataSchema.getColumnNames()
    assert inputDataSchema.getColumnTypes()[4].toString() == "Categorical"

    tp = (TransformProcess.Builder(inputDataSchema)
          .removeColumns("CustomerID", "MerchantID")
          .filter(ConditionFilter(CategoricalColumnCondition("MerchantCountryCode", ConditionOp.NotInSet, {"USA", "CAN"})))
          .conditionalReplaceValueTransform("TransactionAmountUSD", DoubleWritable(0.0),
                                            DoubleColumnCondition("TransactionAmountUSD", ConditionOp.LessThan, 0.0))
          .stringToTimeTransform("DateTimeString", "YYYY-MM-DD HH:mm:ss.SSS", DateTimeZone.UTC)
          .renameColumn("DateTimeString", "DateTime")
          .transform(DeriveColumnsFromTimeTransform.Builder("DateTime").addIntegerDerivedColumn("HourOfDay", DateTimeFieldType.hourOfDay())
                     .build())
          .removeColumns("DateTime")
          .build())
    outputSchema = tp.getFinalSchema()
    print(outputSchema)
    reader = CSVRecordReader(0, ",")
    reader.initialize(FileSplit(folder / "data.csv"))
    originalData = []
    while reader.hasNext():
        originalData.append(reader.next())
    processedData = LocalTransformExecutor.execute(originalData, tp)
    writer = CSVRecordWriter()
    writer.initialize(FileSplit(folder / "out.csv"), NumberOfRecordsPartitioner())
    writer.writeBatch(processedData)
    writer.close()
    for line in (folder / "out.csv").read_text().splitlines():
        print(line)
    assert [row[0].toInt() for row in processedData] == [17, 2, 9, 2, 10] and processedData[3][3].toDouble() == 0
    assert outputSchema.getColumnNames() == ["HourOfDay", "NumItemsInTransaction", "MerchantCountryCode", "TransactionAmountUSD",
                                             "FraudLabel"]
    for step in range(len(tp.getActionList())):                             # schemas at each step
        print("After step", step, tp.getSchemaAfterStep(step))
    again = TransformProcess.fromJson(tp.toJson())
    assert again.equals(tp) and TransformProcess.fromYaml(tp.toYaml()).equals(tp)


def join(folder: Path):
    customerInfoSchema = (Schema.Builder().addColumnLong("customerID").addColumnString("customerName")
                          .addColumnCategorical("customerCountry", ["USA", "France", "Japan", "UK"]).build())
    customerPurchasesSchema = (Schema.Builder().addColumnLong("customerID").addColumnTime("purchaseTimestamp", DateTimeZone.UTC)
                               .addColumnLong("productID").addColumnInteger("purchaseQty").addColumnDouble("unitPriceUSD").build())
    write_lines(folder / "info.csv", ["12345,John,USA", "98765,Jane,France", "50000,Asha,UK"])
    write_lines(folder / "buys.csv", ["12345,1459999552000,1,2,4.5", "12345,1460086000000,7,1,20.0", "98765,1460086000000,4,3,1.5"])
    rrInfo, rrBuys = CSVRecordReader(), CSVRecordReader()
    rrInfo.initialize(FileSplit(folder / "info.csv"))
    rrBuys.initialize(FileSplit(folder / "buys.csv"))
    customerInfo, purchases = [], []
    while rrInfo.hasNext():
        customerInfo.append(rrInfo.next())
    while rrBuys.hasNext():
        purchases.append(rrBuys.next())
    join = (Join.Builder(Join.JoinType.Inner)
            .setJoinColumns("customerID")
            .setSchemas(customerInfoSchema, customerPurchasesSchema)
            .build())
    joinedData = LocalTransformExecutor.executeJoin(join, customerInfo, purchases)
    assert len(joinedData) == 3 and join.getOutputSchema().numColumns() == 7

    reducer = (Reducer.Builder(ReduceOp.CountUnique).keyColumns("customerID").sumColumns("purchaseQty").takeFirstColumns("customerName")
               .build())
    tp = (TransformProcess.Builder(join.getOutputSchema())
          .doubleColumnsMathOp("cost", MathOp.Multiply, "unitPriceUSD", "unitPriceUSD")
          .removeAllColumnsExceptFor("customerID", "customerName", "purchaseQty")
          .reduce(reducer)
          .build())
    summed = LocalTransformExecutor.execute(joinedData, tp)
    assert sorted(row[2].toInt() for row in summed) == [3, 3]


def iris_analysis(folder: Path):
    schema = (Schema.Builder().addColumnsDouble("Sepal length", "Sepal width", "Petal length", "Petal width")
              .addColumnInteger("Species").build())
    recordReader = CSVRecordReader(0, ",")
    recordReader.initialize(FileSplit(folder / "iris.txt"))
    dataAnalysis = AnalyzeLocal.analyze(schema, recordReader)
    print(dataAnalysis)
    da = dataAnalysis.getColumnAnalysis("Sepal length")
    assert da.getMin() > 4 and da.getMax() < 8 and 5.8 < da.getMean() < 5.9 and da.getCountTotal() == 150
    print(da.getSampleStdev(), da.getCountTotal(), da.getCountZero())
    HtmlAnalysis.createHtmlAnalysisFile(dataAnalysis, folder / "DataVecIrisAnalysis.html")
    assert "Sepal length" in (folder / "DataVecIrisAnalysis.html").read_text()

    recordReader.reset()
    tp = (TransformProcess.Builder(schema)
          .integerToCategorical("Species", ["setosa", "versicolor", "virginica"])
          .transform(CategoricalToIntegerTransform("Species"))
          .build())
    iterator = RecordReaderDataSetIterator(TransformProcessRecordReader(recordReader, tp), 150, 4, 3)
    for normalizer in (NormalizerMinMaxScaler(), NormalizerStandardize(), ImagePreProcessingScaler(0, 1, 8)):
        normalizer.fit(iterator)
        iterator.setPreProcessor(normalizer)
        allData = iterator.next()
        assert allData.numExamples() == 150 and allData.getFeatures().maxNumber().doubleValue() < 4
        iterator.reset()
        iterator.setPreProcessor(None)


def svmlight(folder: Path):
    write_lines(folder / "train.txt", [f"{k % 2} {1 + k % 4}:{1 + k % 2} {5 + k % 3}:0.5" for k in range(20)])
    config = {SVMLightRecordReader.NUM_FEATURES: 8, SVMLightRecordReader.ZERO_BASED_LABEL_INDEXING: True}
    trainRecordReader = SVMLightRecordReader()
    trainRecordReader.initialize(config, FileSplit(folder / "train.txt"))
    trainIter = RecordReaderDataSetIterator(trainRecordReader, 10, 8, 2)
    ds = trainIter.next()
    assert ds.getFeatures().shape() == (10, 8) and ds.getLabels().sumNumber().intValue() == 10 and trainIter.hasNext()
